import Foundation
import ODataModel
import Testing

@testable import ODataCache

@Suite("Searching in a cache")
struct SearchTests {
    private let model: EntityDataModel
    private let cache: MemoryEntityCache

    init() async throws {
        model = try Shop.model()
        cache = MemoryEntityCache(model: model)
        let people: [(Int64, String, String?)] = [
            (1, "Anna Schmidt", "Berlin"), (2, "Hanna Meier", "Bernau"), (3, "Jean-Luc Müller", "Köln"),
            (4, "IĞDIR ırmak", "Iğdır"), (5, "Straße", nil),
        ]
        try await cache.store(
            people.map { try Shop.customer(model, $0.0, $0.1, city: $0.2) }, in: "Customers")
        try await cache.store(
            [
                Shop.article(model, "anna", title: "Red lamp", note: "blue"),
                Shop.article(model, "b", title: "Blue chair", note: "red"),
            ], in: "Articles")
    }

    private func found(
        _ text: String, _ search: any EntitySearch, _ locale: String = "en"
    ) async throws -> [Int64] {
        try await cache.search(text, in: "Customers", by: search, locale: Locale(identifier: locale))
            .compactMap { if case .integer(let id)? = $0["ID"] { id } else { nil } }
    }

    @Test(
        "Each of the five word searches finds its words",
        arguments: [
            (SearchStrategy.wordPrefix, "anna", [Int64(1)]), (.wordPrefix, "ann schm", [1]),
            (.wordPrefix, "be", [1, 2]),
            (.wordPrefix, "luc", [3]), (.wordPrefix, "nna", []), (.wordPrefix, "meier x", [2]),
            (.fullPrefix, "anna sch", [1]), (.fullPrefix, "schmidt", []), (.fullPrefix, "ber", [1, 2]),
            (.wordContains, "nna", [1, 2]), (.wordContains, "nna mül", [1, 2, 3]), (.wordContains, "xyz", []),
            (.fullContains, "a sch", [1]), (.fullContains, "nna mid", []), (.fullContains, "n-l", [3]),
            (.allWordsContained, "nna mid", [1]), (.allWordsContained, "nna mid xyz", []),
            (.allWordsContained, "schmidt berlin", [1]),
        ] as [(SearchStrategy, String, [Int64])])
    func strategies(_ strategy: SearchStrategy, _ text: String, _ ids: [Int64]) async throws {
        #expect(try await found(text, strategy) == ids)
    }

    @Test("By default, words match by their beginning in any case")
    func standard() async throws {
        let hits = try await cache.search("MEI", in: "Customers", locale: Locale(identifier: "en"))
        #expect(hits.map { $0["ID"] } == [.integer(2)])
    }

    @Test("An empty search finds every entity", arguments: ["", "  \n"])
    func nothing(_ text: String) async throws {
        for strategy in SearchStrategy.allCases { #expect(try await found(text, strategy).count == 5) }
    }

    @Test("Letter case is compared by the rules of the locale")
    func locale() async throws {
        #expect(try await found("ığdır", SearchStrategy.wordPrefix, "tr") == [4])
        #expect(try await found("iğdir", SearchStrategy.fullPrefix, "tr") == [])
        #expect(try await found("iğdir", SearchStrategy.fullPrefix, "en") == [4])
        #expect(try await found("STRASSE", SearchStrategy.wordPrefix, "de") == [5])
        #expect(try await found("mu\u{308}ller", SearchStrategy.wordPrefix) == [3])
    }

    @Test("If the metadata mark searchable properties, only these are searched")
    func searchable() async throws {
        #expect(try await cache.search("red", in: "Articles").map { $0["Code"] } == [.string("anna")])
        #expect(try await cache.search("anna", in: "Articles").isEmpty)
        let shape = try model.requiredShape(ofSet: "Customers")
        #expect(shape.searchableProperties == ["Name", "City"])
    }

    @Test("Regular expressions match, and an invalid or long pattern is an error")
    func regularExpressions() async throws {
        #expect(try await found("^h?anna", RegularExpressionSearch()) == [1, 2])
        #expect(try await found("^Anna", RegularExpressionSearch(isCaseSensitive: true)) == [1])
        #expect(try await found("^anna", RegularExpressionSearch(isCaseSensitive: true)) == [])
        await #expect(throws: SearchError.invalidPattern("(a")) {
            try await self.found("(a", RegularExpressionSearch())
        }
        let limit = RegularExpressionSearch.maximumPatternLength
        #expect(try await found(String(repeating: "x", count: limit), RegularExpressionSearch()).isEmpty)
        await #expect(throws: SearchError.patternTooLong(length: limit + 1)) {
            try await self.found(String(repeating: "x", count: limit + 1), RegularExpressionSearch())
        }
    }

    @Test("A slow regular expression ends at its time limit")
    func timeLimit() async throws {
        try await cache.store(
            [Shop.customer(model, 6, String(repeating: "a", count: 60) + "!")], in: "Customers")
        let clock = ContinuousClock()
        let start = clock.now
        await #expect(throws: SearchError.timedOut(limit: .milliseconds(100))) {
            try await self.found("(a+)+$", RegularExpressionSearch(timeLimit: .milliseconds(100)))
        }
        #expect(clock.now - start < .seconds(20))
    }

    @Test("An app can replace the search with its own")
    func own() async throws {
        struct Backwards: EntitySearch {
            func matcher(for text: String, locale: Locale) -> SearchMatcher {
                SearchMatcher { fields in fields.contains { String($0.reversed()) == text } }
            }
        }
        #expect(try await found("nilreB", Backwards()) == [1])
    }

    @Test("An app's own cache can be searched in the same way")
    func foreignCache() async throws {
        let foreign = ForeignCache(model: model)
        try await foreign.store(await cache.entities(of: "Customers"), in: "Customers")
        let hits = try await foreign.search("schm", in: "Customers")
        #expect(hits.map { $0["ID"] } == [.integer(1)])
        await #expect(throws: CacheError.unknownCollection("Nowhere")) { try await foreign.search("x", in: "Nowhere") }
    }
}
