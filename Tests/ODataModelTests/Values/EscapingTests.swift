import ODataModel
import Testing

@Suite("Quotes in quoted text")
struct EscapingTests {
    private let quote = UInt8(ascii: "'")

    @Test(
        "are doubled and reduced again, beside any character",
        arguments: [
            ("", ""), ("a", "a"), ("'", "''"), ("O'Neil", "O''Neil"), ("'''", "''''''"),
            ("'\u{301}a", "''\u{301}a"), ("\u{600}'", "\u{600}''"), ("'\u{200C}'\u{FE0F}", "''\u{200C}''\u{FE0F}"),
            ("\r\n'", "\r\n''"),
        ])
    func doubling(text: String, doubled: String) {
        #expect(text.doubling(quote).utf8.elementsEqual(doubled.utf8))
        #expect(doubled.undoubling(quote).utf8.elementsEqual(text.utf8))
    }

    @Test("that are single stay single")
    func undoubling() {
        #expect("a'b''c'''".undoubling(quote) == "a'b'c''")
    }

    @Test("are escaped with their escape character")
    func escaping() {
        let backslash = UInt8(ascii: "\\")
        let escaped = "a\"b\\c\"\u{301}".escaping([backslash, UInt8(ascii: "\"")], with: backslash)
        let expected = "a\\\"b\\\\c\\\"\u{301}"
        #expect(escaped.utf8.elementsEqual(expected.utf8))
    }
}
