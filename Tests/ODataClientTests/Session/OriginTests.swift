import ODataHTTP
import ODataService
import Testing

@Suite("Origins (RFC 6454, 4)") struct OriginTests {
    @Test(
        "An origin is compared by scheme, host and port",
        arguments: [
            ("https", "Shop.Test", "https://shop.test"), ("HTTPS", "shop.test:443", "https://shop.test"),
            ("http", "shop.test:443", "http://shop.test:443"), ("http", "shop.test:", "http://shop.test"),
            ("https", "[::1]:8443", "https://[::1]:8443"), ("https", "[2001:DB8::1]", "https://[2001:db8::1]"),
            ("https", "user:secret@shop.test", "https://shop.test"), ("ftp", "shop.test", nil), ("https", "", nil),
            ("https", "shop.test:65536", nil), ("https", "shop.test:x", nil), ("https", "[::1]x", nil),
        ] as [(String, String, String?)])
    func reads(scheme: String, authority: String, expected: String?) {
        #expect(Origin(scheme: scheme, authority: authority)?.description == expected)
    }

    @Test(
        "IP addresses are distinguished from names",
        arguments: [
            ("127.0.0.1", true), ("[::1]", true), ("localhost", false), ("1.2.3.example", false), ("1.2.3", false),
        ])
    func addresses(authority: String, isAddress: Bool) {
        #expect(Origin(scheme: "https", authority: authority)?.isAddress == isAddress)
    }

    @Test("An observed body can be repeated if the original can") func repeatable() async throws {
        let counter = Counter()
        let bytes = ByteStream([1, 2, 3]).observed { _ in counter.next() }
        #expect(bytes.isRepeatable)
        #expect(try await bytes.collect(limit: 10) == [1, 2, 3])
        #expect(try await bytes.fromStart()?.collect(limit: 10) == [1, 2, 3])
        #expect(counter.value == 4)
        let once = ByteStream { nil }.observed { _ in }
        #expect(!once.isRepeatable)
        #expect(once.fromStart().map { _ in true } == nil)
    }
}
