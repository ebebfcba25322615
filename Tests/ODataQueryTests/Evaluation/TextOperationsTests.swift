import ODataQuery
import Testing

@Suite("String functions on code points")
struct TextOperationsTests {
    @Test("length, indexof and substring count code points, not letters or bytes")
    func codePoints() {
        // A letter of two code points and a character of four bytes.
        let text = "e\u{301}x😀y"
        #expect(TextOperations.length(text) == 5)
        #expect(TextOperations.index(of: "😀", in: text) == 3 && TextOperations.index(of: "", in: text) == 0)
        #expect(TextOperations.index(of: "é", in: text) == -1, "no normalising")
        #expect(TextOperations.substring(text, from: 2, length: nil) == "x😀y")
        #expect(TextOperations.substring(text, from: 3, length: 1) == "😀")
        #expect(TextOperations.substring(text, from: -2, length: nil) == "😀y")
        #expect(TextOperations.substring(text, from: .min, length: .max) == text)
        #expect(TextOperations.substring(text, from: 99, length: -1) == "")
    }

    @Test("Case mappings are the full Unicode mappings, without a locale")
    func mappings() {
        #expect(TextOperations.uppered("straße ŉ") == "STRASSE ʼN" && TextOperations.lowered("İI") == "i̇i")
        #expect(TextOperations.trimmed("\u{2003} a b\u{85}\n") == "a b" && TextOperations.trimmed(" \t") == "")
    }
}
