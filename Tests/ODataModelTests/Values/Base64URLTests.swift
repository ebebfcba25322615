import ODataModel
import Testing

@Suite("Base64URL")
struct Base64URLTests {
    @Test("Bytes of every length are read back, with or without padding, in both alphabets")
    func roundTrip() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 251) }
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text) == bytes)
            let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            #expect(Base64URL.decode(padded) == bytes)
            #expect(Base64URL.decode(String(padded.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })) == bytes)
        }
    }

    @Test(
        "Text that is no base64 is refused",
        arguments: ["A", "A*BC", "AA=", "AAA==", "AB", "AAB", "====", "A A=", "é"])
    func refused(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
