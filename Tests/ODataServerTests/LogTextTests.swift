import Testing

@testable import ODataServer

/// Foreign texts in a line of the access log.
@Suite struct LogTextTests {
    @Test(
        "client text cannot break a line, a field or the text direction",
        arguments: [
            ("z status=200 user=admin", "z%20status%3D200%20user%3Dadmin"), ("a\nb\r\tc", "a%0Ab%0D%09c"),
            ("\u{9B}31m", "%C2%9B31m"), ("\u{202E}x\u{2066}", "%E2%80%AEx%E2%81%A6"), ("a\"[b]\\", "a%22%5Bb%5D%5C"),
            ("zoë-1.2/3@x", "zoë-1.2/3@x"), ("李", "李"), ("100%", "100%25"), ("\u{200B}\u{FEFF}", "%E2%80%8B%EF%BB%BF"),
            ("a\u{301}", "a%CC%81"), ("", ""),
        ])
    func values(text: String, expected: String) { #expect(LogText.value(text) == expected) }

    @Test("the request target is logged as sent, except for characters that are invalid in URLs")
    func targets() {
        #expect(LogText.target("/Lines(OrderID=1,Number=2)?$top=1&a=%20") == "/Lines(OrderID=1,Number=2)?$top=1&a=%20")
        #expect(LogText.target("/a b\u{1B}[31m") == "/a%20b%1B%5B31m")
    }

    @Test("a long text is cut")
    func length() {
        #expect(LogText.value(String(repeating: "a", count: LogText.maxLength + 1)).count == LogText.maxLength)
    }
}
