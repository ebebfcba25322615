import ODataModel
import ODataQuery
import TestCorpus
import Testing

@testable import ODataQuery
@testable import ODataSQL

@Suite("The operator like")
struct LikeTests {
    /// A matcher without regular expressions.
    private static func matches(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        if first == "%" { return (text.startIndex...text.endIndex).contains { matches(text[$0...], rest) } }
        guard let scalar = text.first, first == "_" || first == scalar else { return false }
        return matches(text.dropFirst(), rest)
    }

    @Test("Random patterns match like a simple matcher, in SQL and in memory")
    func random() async throws {
        var random = SeededGenerator(seed: 54)
        let pieces = [
            "a", "b", "A", "%", "_", ".", "*", "^", "$", "[", "]", "\\", "\n", "é", "e\u{301}", "🦊", "'", "/",
        ]
        func word(_ maximum: Int) -> String {
            (0..<Int.random(in: 0...maximum, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
        }
        let shop = try SelectionShop()
        let texts = ["", "%", "_"] + (0..<25).map { _ in word(6) }
        for (id, text) in texts.enumerated() {
            try await shop.add("Customers", ["ID": .integer(Int64(id)), "Name": .string(text)])
        }
        var found = 0
        for pattern in ["", "%", "%%", "_", "__%", "%a%b%"] + (0..<120).map({ _ in word(5) }) {
            let selection = Selection.from("Customers", as: "c").where(
                .attribute("c.Name", .like, .value(.string(pattern)))
            )
            .select("c.ID").orderBy("ID")
            let expected = texts.indices.filter {
                Self.matches(Array(texts[$0].unicodeScalars)[...], Array(pattern.unicodeScalars)[...])
            }
            #expect(try await shop.texts(selection) == expected.map(String.init), "\(pattern.debugDescription)")
            found += expected.count
        }
        #expect(found > 100)
    }

    @Test("A pattern with wildcards only at its ends uses an index")
    func forms() {
        #expect(LikePattern("abc").form == .equal("abc"))
        #expect(LikePattern("abc%").form == .starts("abc"))
        #expect(LikePattern("%abc").form == .ends("abc"))
        #expect(LikePattern("%%abc%").form == .contains("abc"))
        #expect(LikePattern("a_c%").form == .other(prefix: "a"))
        #expect(LikePattern("%a%c").form == .other(prefix: ""))
    }
}
