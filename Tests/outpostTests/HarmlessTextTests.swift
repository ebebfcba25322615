import Testing

@testable import enum ToolLanguage.HarmlessText
@testable import struct ToolLanguage.HarmlessPieces
@testable import struct ToolLanguage.TerminalText

@Suite("Foreign text")
struct HarmlessTextTests {
    @Test(
        "Foreign text is shown on one line, without control and hidden characters",
        arguments: [
            ("plain ä 東京 «»", "plain ä 東京 «»"), ("a\u{1B}[31mb", "a [31mb"), ("a\nb\tc\rd", "a b c d"),
            ("a\u{9B}b\u{85}c\u{7F}d", "a b c d"), ("a\u{2028}b\u{2029}c", "a b c"),
            ("\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("\u{2066}\u{2067}\u{2068}\u{2069}", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("\u{200E}\u{200F}\u{061C}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("a\u{200B}b\u{200C}c\u{200D}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d"),
            ("a\u{2060}b\u{FEFF}c\u{AD}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d"),
            ("\u{E0041}\u{180E}\u{3164}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        ])
    func line(text: String, expected: String) { #expect(HarmlessText.line(text) == expected) }

    @Test(
        "Foreign text keeps the joiners of scripts and emoji",
        arguments: ["👩‍👩‍👧", "❤️", "می‌خواهم", "क्‍ष", "e\u{301}", "葛\u{E0100}"])
    func scripts(text: String) { #expect(HarmlessText.line(text) == text) }

    @Test("Documents keep their line breaks and tabs")
    func lines() {
        #expect(HarmlessText.lines("a\nb\tc\u{1B}d\r\ne") == "a\nb c d \ne")
        #expect(HarmlessText.document("a\nb\tc\u{1B}d") == "a\nb\tc d")
    }

    @Test("JSON keeps its meaning, with escapes")
    func json() {
        let json = HarmlessText.json("{\n\"a\":\"b\u{202E}\u{9B}\u{7F}\u{2028}\u{E0041}é\"}")
        #expect(json == "{\n\"a\":\"b\\u202e\\u009b\\u007f\\u2028\\udb40\\udc41é\"}")
    }

    @Test("Text may arrive in pieces that end within a character")
    func pieces() {
        let text = "ab\u{202E}cd é 東 😀 \u{9B} e\u{200B}"
        let bytes = Array(text.utf8)
        for size in 1...7 {
            var pieces = HarmlessPieces(HarmlessText.document)
            var result: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                result += pieces.add(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            result += pieces.end()
            #expect(String(decoding: result, as: UTF8.self) == HarmlessText.document(text), "\(size)")
        }
        var cut = HarmlessPieces(HarmlessText.document)
        #expect(cut.add([0x61, 0xE2, 0x80]) == [0x61])
        #expect(String(decoding: cut.end(), as: UTF8.self) == "\u{FFFD}")
    }

    @Test("Foreign text is harmless within a message, which keeps its line breaks")
    func interpolation() {
        let name = "x\n\u{1B}[31m\u{202E}"
        let text: TerminalText = "first \(name)\nsecond \(TerminalText(name)) \(1)"
        #expect(text.description == "first x  [31m\u{FFFD}\nsecond x  [31m\u{FFFD} 1")
        let filled = TerminalText("in DIR, DIRS and DIR.").replacing(word: "DIR", with: "d\(name)")
        #expect(filled.description == "in dx  [31m\u{FFFD}, DIRS and dx  [31m\u{FFFD}.")
    }
}
