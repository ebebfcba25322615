import Foundation
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("Order and comparison of texts in a store")
struct TextComparisonTests {
    private static let words = [
        "côté", "Zoe", "cote", "Cote", "zoo", "STRASSE", "Straße", "ΣΊΣΥΦΟΣ", "Σίσυφος", "ä", "a", "b", "côte",
    ]

    private static let sql =
        "CREATE TABLE Words(WordID INTEGER PRIMARY KEY, Word VARCHAR(40), Other VARCHAR(40)); INSERT INTO Words VALUES "
        + words.enumerated().map { "(\($0 + 1), '\($1)', '\($1 == "cote" ? "COTE" : "-")')" }.joined(separator: ", ")
        + ";"
        + "CREATE TABLE Codes(Code VARCHAR(10) PRIMARY KEY, Name TEXT) WITHOUT ROWID; INSERT INTO Codes VALUES ('Ab', 'x');"

    private func store(
        _ collation: TextCollation?, _ isCaseSensitive: Bool?, of shop: Shop,
        _ change: (inout OfflineStore.Options) -> Void = { _ in }
    ) async throws -> OfflineStore {
        var options = OfflineStore.Options()
        options.creation.collation = collation
        options.creation.isCaseSensitive = isCaseSensitive
        change(&options)
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Words"), DefiningQuery(entitySet: "Codes")], options: options)
        try await store.download()
        return store
    }

    private func words(_ store: OfflineStore, _ query: String) async throws -> [String] {
        try await store.rows("Words?" + query).map { row in
            guard case .string(let text)? = row["Word"] else { return "" }
            return text
        }
    }

    @Test("By default, texts are compared by code points")
    func codePoints() async throws {
        let store = try await store(nil, nil, of: try await Shop(with: Self.sql))
        #expect(try await words(store, "$filter=Word eq 'zoe'") == [])
        #expect(
            try await words(store, "$orderby=Word")
                == Self.words.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    }

    @Test("Without case, comparisons, searches and orders ignore letter case")
    func caseless() async throws {
        let store = try await store(nil, false, of: try await Shop(with: Self.sql))
        #expect(try await words(store, "$filter=Word eq 'zoe'") == ["Zoe"])
        #expect(try await words(store, "$filter=Word ne 'zoe'").count == Self.words.count - 1)
        #expect(try await words(store, "$filter=Word eq 'strasse'") == ["STRASSE", "Straße"])
        #expect(try await words(store, "$filter='ΣΊΣΥΦΟΣ' eq Word") == ["ΣΊΣΥΦΟΣ", "Σίσυφος"])
        #expect(try await words(store, "$filter=Word in ('ZOO','COTE')") == ["cote", "Cote", "zoo"])
        #expect(try await words(store, "$filter=contains(Word,'OT')") == ["cote", "Cote"])
        #expect(try await words(store, "$filter=startswith(Word,'strass')") == ["STRASSE", "Straße"])
        #expect(try await words(store, "$filter=endswith(Word,'OO')") == ["zoo"])
        #expect(try await words(store, "$filter=Word eq Other") == ["cote"])
        #expect(try await words(store, "$filter=Word gt 'ZOE' and Word lt 'ZZ'") == ["zoo"])
        #expect(try await words(store, "$filter=Word eq null") == [])
        #expect(
            try await words(store, "$filter=Word lt 'zz'&$orderby=Word,WordID")
                == ["a", "b", "cote", "Cote", "côte", "côté", "STRASSE", "Straße", "Zoe", "zoo"])
    }

    @Test("In dictionary order, letters come first, then accents, then case", arguments: [true, false])
    func dictionary(isCaseSensitive: Bool) async throws {
        let store = try await store(.dictionary, isCaseSensitive, of: try await Shop(with: Self.sql))
        let streets = isCaseSensitive ? ["Straße", "STRASSE"] : ["STRASSE", "Straße"]
        #expect(
            try await words(store, "$filter=WordID lt 8 or WordID gt 9&$orderby=Word,WordID")
                == ["a", "ä", "b", "cote", "Cote", "côte", "côté"] + streets + ["Zoe", "zoo"])
        #expect(try await words(store, "$filter=Word lt 'b'") == ["ä", "a"])
        #expect(try await words(store, "$filter=Word eq 'zoe'") == (isCaseSensitive ? [] : ["Zoe"]))
        #expect(try await words(store, "$filter=Word eq 'co\u{302}te\u{301}'") == ["côté"], "however it is encoded")
        #expect(try await words(store, "$filter=contains(Word,'OT')") == (isCaseSensitive ? [] : ["cote", "Cote"]))
    }

    @Test("Pages continue where the last one ended", arguments: TextCollation.allCases, [true, false])
    func pages(collation: TextCollation, isCaseSensitive: Bool) async throws {
        let store = try await store(collation, isCaseSensitive, of: try await Shop(with: Self.sql)) {
            $0.runtime.localPageSize = 2
        }
        for order in ["Word", "Word desc"] {
            #expect(try await words(store, "$orderby=\(order)").sorted() == Self.words.sorted())
        }
    }

    @Test("Keys are exact for any comparison")
    func keys() async throws {
        let store = try await store(.dictionary, false, of: try await Shop(with: Self.sql))
        #expect(try await store.rows("Codes('Ab')").count == 1)
        await #expect(throws: ODataError.self) { _ = try await store.rows("Codes('ab')") }
        #expect(try await store.rows("Codes?$filter=Code eq 'ab'").count == 1)
        try await store.create("Codes", ["Code": "AB", "Name": "y"])
        #expect(try await store.rows("Codes?$filter=Code eq 'ab'").count == 2)
    }

    @Test("The engine's own sets use the comparison of the store")
    func engineSets() async throws {
        let store = try await store(nil, false, of: try await Shop(with: Self.sql))
        try await store.update("Words(1)", ["Other": "new"])
        #expect(try await store.rows("RequestQueue?$filter=EntitySet eq 'WORDS'").count == 1)
    }

    @Test("An index supports the comparison, and edits, copies and repairs keep it")
    func index() async throws {
        let shop = try await Shop(with: Self.sql)
        let protection = StoreProtection.encrypted(.key(EncryptionKey.generate()))
        let directory = shop.directory.appendingPathComponent("clone").path
        var options = OfflineStore.Options()
        (options.creation.collation, options.creation.isCaseSensitive, options.creation.indexes) = (
            .dictionary, false, ["Words": [["Word"]]]
        )
        let store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client(),
            queries: [DefiningQuery(entitySet: "Words")], options: options)
        try await store.download()
        let plans = try await store.indexes.explain(ODataURL(parsing: "Words?$filter=Word eq 'zoe'")).statements
            .flatMap(\.plan)
        #expect(plans.contains { $0.contains("INDEX property") }, "\(plans)")
        let ordered = try await store.indexes.explain(ODataURL(parsing: "Words?$orderby=Word&$top=2")).statements
            .flatMap(
                \.plan)
        #expect(ordered.contains { $0.contains("INDEX property") }, "\(ordered)")
        try await store.update("Words(2)", ["Word": "Yak"])
        #expect(try await words(store, "$filter=Word eq 'zoe'") == [])
        #expect(try await words(store, "$filter=Word eq 'YAK'") == ["Yak"])
        try await store.maintenance.compact()
        let path = shop.directory.appendingPathComponent("copy.db").path
        try await store.maintenance.copy(to: path, key: .passphrase(Secret("long enough for a test")))
        try store.close()
        #expect(try await OfflineStore.verify(at: directory, protection: protection).isWhole)
        #expect(try await OfflineStore.salvage(at: directory, protection: protection).savedChanges == 1)
        let saved = try await OfflineStore.open(at: directory, protection: protection)
        #expect(try await words(saved, "$filter=Word eq 'YAK'") == ["Yak"])
    }

    @Test("A store keeps its comparison, and refuses another one with a reason")
    func kept() async throws {
        let shop = try await Shop(with: Self.sql)
        try await store(.dictionary, false, of: shop).close()
        let directory = shop.directory.appendingPathComponent("clone").path
        let same = try await OfflineStore.open(at: directory, protection: .unencrypted)
        #expect(try await words(same, "$filter=Word eq 'zoe'") == ["Zoe"])
        try same.close()
        var options = OfflineStore.Options()
        options.creation.isCaseSensitive = true
        do {
            _ = try await OfflineStore.open(at: directory, protection: .unencrypted, options: options)
            Issue.record("opened")
        } catch OfflineError.optionDiffers(let name, let stored, let given) {
            #expect([name, stored, given] == ["creation.isCaseSensitive", "false", "true"])
        }
        options.creation.isCaseSensitive = nil
        options.creation.collation = .codePoints
        await #expect(throws: OfflineError.self) {
            _ = try await OfflineStore.open(at: directory, protection: .unencrypted, options: options)
        }
    }
}
