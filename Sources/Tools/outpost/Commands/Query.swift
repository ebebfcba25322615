import ArgumentParser
import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// `outpost query`.
struct Query: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Ask a clone, without a network.",
        discussion: """
            The query is an OData URL relative to the service root. Put it in single quotes, so that the shell leaves \
            $ and & alone.

            EXAMPLE
              outpost query shop Customers
              outpost query shop 'Orders?$filter=Freight gt 500&$orderby=Freight desc'
              outpost query shop 'Orders(10248)?$expand=Customer' --json
              outpost query shop 'Orders?$filter=Freight gt 500' --explain
              outpost query shop \\
                'Orders?$apply=groupby((ShipCountry),aggregate($count as Orders))'
            """)

    @OptionGroup var store: StoreOptions

    @Argument(help: "The query.")
    var query: String

    @Flag(help: "Print the answer in the OData JSON format.")
    var json = false

    @Flag(help: "Say how the query is answered: the query as understood, the SQL, and SQLite's plan.")
    var explain = false

    func run() async throws {
        let written = try ODataURL(parsing: query)
        let provider = try await store.open()
        do {
            let url = try await provider.traits.queryLanguage.address(of: written) ?? written
            try provider.queries.check(url, written: query)
            if explain {
                try await printExplanation(provider, url)
            } else if json {
                try await printJSON(provider, url)
            } else {
                try await printTable(provider, url)
            }
            await Self.warnOfMissing(in: provider, url, of: store.directory)
            await Self.warnOfUnreadable(in: provider, url, of: store.directory)
            try provider.close()
        } catch {
            try? provider.close()
            throw error
        }
    }

    /// Tells where the answer may lack what a first download has not brought yet.
    private static func warnOfMissing(in provider: OfflineStore, _ url: ODataURL, of directory: String) async {
        guard case .name(let set, _)? = url.path.segments.first, let kept = try? await KeptSets(provider),
            kept.incomplete.contains(set.text)
        else { return }
        Terminal.error(
            "\(Terminal.yellow("warning:", on: .error)) Not all is here of \(set.text): its first download is not "
                + "complete. Go on with: outpost pull \(directory.shellQuoted)")
    }

    /// Tells of values in the answer that the service sent and that could not be read.
    private static func warnOfUnreadable(in provider: OfflineStore, _ url: ODataURL, of directory: String) async {
        guard case .name(let set, let arguments)? = url.path.segments.first,
            let unreadable = try? await provider.observe.status().unreadable
        else { return }
        let entity = arguments == .none ? nil : ODataURL(path: ResourcePath([.name(set, arguments)])).description
        let values = unreadable.filter { $0.entitySet == set.text && (entity == nil || $0.entity == entity) }
        for line in UnreadableReport.lines(values, of: directory) { Terminal.error(line) }
    }

    private func printExplanation(_ provider: OfflineStore, _ url: ODataURL) async throws {
        let explanation = try await provider.indexes.explain(url)
        guard json else {
            print(explanation.text)
            return
        }
        struct Report: Encodable {
            struct Statement: Encodable {
                var purpose: String
                var sql: String
                var arguments: [String]
                var plan: [String]
            }

            var tree: [String]
            var statements: [Statement]
        }
        let statements = explanation.statements.map {
            Report.Statement(purpose: $0.purpose, sql: $0.sql, arguments: $0.arguments, plan: $0.plan)
        }
        print(JSONText(Report(tree: explanation.tree, statements: statements)).text)
    }

    /// What a program would get over HTTP, with harmful characters escaped.
    private func printJSON(_ provider: OfflineStore, _ url: ODataURL) async throws {
        let body = try await LocalHandler(provider).answer(url)
        try await Terminal.write(body, isJSON: true)
        Terminal.write("\n")
    }

    private func printTable(_ provider: OfflineStore, _ url: ODataURL) async throws {
        let response = try await provider.execute(ODataRequest(.read, url))
        switch response.body {
        case .page(let page):
            var table = EntityTable(model: provider.model, url: url)
            Terminal.write(table.rendered(page.entities))
            if let count = page.count { print(Terminal.dim("\(Terminal.number(count)) in all")) }
        case .entity(let entity):
            for (name, text) in EntityTable(model: provider.model, url: url).pairs(entity) {
                print("\(Terminal.bold(name)): \(text)")
            }
        case .value(let value, let type): print(value.cell(type: type, model: provider.model))
        case .count(let count): print(count)
        case .raw(let bytes, _): try await Terminal.write(bytes)
        case .references(let ids, _, _, _): for id in ids { print(id) }
        default: try await printJSON(provider, url)
        }
    }
}

extension OfflineStore.Queries {
    /// Resolves the names of a query before it is asked, so that an error knows its place in the text.
    func check(_ url: ODataURL, written text: String) throws(QueryError) {
        do throws(QueryError) {
            try check(url)
        } catch {
            var error = error
            error.text = error.text ?? text
            throw error
        }
    }
}
