import Testing

/// `OfflineStore` has its verbs in facets, so that an app finds them by subject.
@Suite("Facets of the offline store")
struct StoreFacetTests {
    /// The lines of the module, with the type that each stands in.
    private static func lines() throws -> [(type: String, line: String)] {
        try SourceFiles.code().filter { $0.path.hasPrefix("OfflineOData/") }.flatMap { file in
            var type = ""
            return file.lines.map { line in
                if let found = line.firstMatch(of: /^(?:public )?(?:final )?(?:extension|class) ([\w.]+)/) {
                    type = String(found.1)
                }
                return (type, String(line))
            }
        }
    }

    @Test("The store has few public functions of its own; the facets have the others")
    func functions() throws {
        var found: Set<String> = []
        for (type, line) in try Self.lines() where type == "OfflineStore" {
            if let name = line.firstMatch(of: /^    public (?:static )?func (\w+)/)?.1 { found.insert(String(name)) }
        }
        #expect(
            found == [
                "create", "open", "close", "execute", "upload", "download", "sync", "setOptions",
                // Texts that the app needs before it can connect.
                "keptTexts", "setKeptText",
                // For stores that are not open.
                "verify", "salvage", "remove", "exists", "rekey",
            ])
    }

    @Test("There are ten facets, and each one has functions")
    func facets() throws {
        let lines = try Self.lines()
        var facets: Set<String> = []
        for (type, line) in lines where type == "OfflineStore" {
            if let found = line.firstMatch(of: /^    public struct (\w+): Sendable \{$/)?.1, !found.hasSuffix("ptions")
            {
                facets.insert(String(found))
            }
        }
        #expect(
            facets == [
                "Queries", "Changes", "Streams", "Drafts", "Indexes", "Users", "Maintenance", "Observation",
                "ChangeLog",
                "LogRecords",
            ])
        for facet in facets {
            let functions = lines.filter { $0.type == "OfflineStore.\(facet)" && $0.line.hasPrefix("    public func ") }
            #expect(!functions.isEmpty, "\(facet) has no function")
        }
    }

    @Test("The former names are aliases of the new ones", arguments: ["Provider", "ProviderDelegate"])
    func aliases(_ suffix: String) throws {
        let new = suffix.replacing("Provider", with: "OfflineStore")
        let lines = try Self.lines().map(\.line)
        let alias = try #require(lines.firstIndex(of: "public typealias OfflineOData\(suffix) = \(new)"))
        #expect(lines[alias - 1] == "@available(*, deprecated, renamed: \"\(new)\")")
    }
}
