import ArgumentParser
import ODataModel
import ODataSQL
import OfflineOData
import ToolLanguage

struct Index: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: translated("Make queries of a clone faster with indexes."),
        discussion: translated(
            paragraphs: """
                Keys and relations have indexes already. Without a set, the command lists your indexes. 'outpost query \
                DIR QUERY --explain' shows whether a query uses an index.

                EXAMPLE
                  outpost index shop Orders ShipCountry 'Freight desc'
                  outpost index shop Products --search
                  outpost index shop
                  outpost index shop Orders ShipCountry 'Freight desc' --drop
                """))

    @OptionGroup var store: StoreOptions

    @Argument(help: .text("The entity set."))
    var set: String?

    @Argument(help: .text("The properties, the most significant one first, with ' desc' for a descending order."))
    var paths: [String] = []

    @Flag(help: .text("Create the full-text index for $search."))
    var search = false

    @Flag(help: .text("Remove the index."))
    var drop = false

    @Flag(help: .text("Report as JSON."))
    var json = false

    mutating func validate() throws {
        guard set == nil || search == paths.isEmpty else {
            throw ValidationError(translated("Give the properties of the index, or --search."))
        }
        if set == nil, search || drop { throw ValidationError(translated("Name the entity set.")) }
    }

    func run() async throws {
        let provider = try await store.open()
        do {
            let what: TerminalText = set == nil ? "Reading" : drop ? "Dropping the index" : "Making the index"
            let report = try await ProgressLine.during(what) { _ in try await change(provider) }
            try provider.close()
            tell(report)
        } catch {
            try? provider.close()
            throw error
        }
    }

    /// Creates or drops the index, and returns the indexes to print.
    private func change(_ provider: OfflineStore) async throws -> [PropertyIndexes.Index] {
        guard let set else { return try await provider.indexes.all() }
        if drop {
            let known = try await provider.indexes.all()
            guard let index = known.first(where: { $0.set == set && $0.isSearch == search && $0.paths == paths }) else {
                throw Failure(
                    message: "There is no such index on \(set).",
                    advice: "See: outpost index \(store.directory.shellQuoted)")
            }
            try await provider.indexes.drop(index)
            return [index]
        }
        return [
            search
                ? try await provider.indexes.createSearch(on: set)
                : try await provider.indexes.create(on: set, paths: paths)
        ]
    }

    private func tell(_ indexes: [PropertyIndexes.Index]) {
        if json {
            print(JSONText(indexes.map(Line.init)).text)
            return
        }
        guard let set else {
            if indexes.isEmpty { print("No indexes but those of keys and relations.") }
            for index in indexes { print(Self.text(index)) }
            return
        }
        for index in indexes {
            print("\(translated(drop ? "Dropped" : "Made")) the index of \(set): \(Self.text(index))")
        }
    }

    private static func text(_ index: PropertyIndexes.Index) -> String {
        "\(index.set) \(index.isSearch ? "--search" : index.paths.joined(separator: ", "))"
    }

    private struct Line: Encodable {
        var set: String
        var paths: [String]
        var search: Bool

        init(_ index: PropertyIndexes.Index) {
            set = index.set
            paths = index.paths
            search = index.isSearch
        }
    }
}
