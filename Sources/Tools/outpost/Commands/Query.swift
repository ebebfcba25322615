import ArgumentParser
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

struct Query: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: translated("Query a clone, without a network."),
        discussion: translated(
            paragraphs: """
                The query is an OData URL relative to the service root. Put it in single quotes, so that the shell \
                leaves $ and & alone. An empty query lists the entity sets.

                EXAMPLE
                  outpost query shop ''
                  outpost query shop Customers
                  outpost query shop 'Orders?$filter=Freight gt 500&$orderby=Freight desc'
                  outpost query shop 'Orders(10248)?$expand=Customer' --json
                  outpost query shop 'Orders?$filter=Freight gt 500' --explain
                  outpost query shop \\
                    'Orders?$apply=groupby((ShipCountry),aggregate($count as Orders))'
                """))

    @OptionGroup var store: StoreOptions

    @Argument(help: .text("The query."))
    var query: String

    @Flag(help: .text("Print the result in the OData JSON format."))
    var json = false

    @Flag(help: .text("Print each property on a line of its own."))
    var lines = false

    @Flag(help: .text("Show how the query is answered: its parsed form, the SQL and the plan of SQLite."))
    var explain = false

    func validate() throws {
        guard !(lines && json) else { throw ValidationError(translated("--lines and --json exclude each other.")) }
    }

    func run() async throws {
        let provider = try await store.open()
        do {
            let text = try TypedQuery.text(query, root: provider.serviceRoot)
            let written = try ODataURL(parsing: text)
            let url = try await provider.traits.queryLanguage.address(of: written) ?? written
            try provider.queries.check(url, written: text)
            Self.warnOfOptions(url, in: provider)
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
            let failure = await Self.failure(error, in: provider, of: store.directory)
            try? provider.close()
            throw failure
        }
    }

    /// Warns of query options without `$` that a clone does not know, such as `limit`.
    private static func warnOfOptions(_ url: ODataURL, in provider: OfflineStore) {
        guard case .name(let set, _)? = url.path.segments.first, provider.model.entitySet(set.text) != nil else {
            return
        }
        for option in url.options.custom {
            Terminal.error(
                """
                \(Terminal.yellow("warning:", on: .error)) The clone ignores \(option.name). \
                The options of OData begin with $, such as $top and $filter.
                """)
        }
    }

    /// Explains whether the clone keeps the whole entity set of an entity that was not found.
    private static func failure(
        _ error: any Error, in provider: OfflineStore, of directory: String
    ) async -> any Error {
        guard let missing = error as? ODataError, missing.status == 404, let entity = missing.target,
            let set = entity.firstIndex(of: "(").map({ String(entity[..<$0]) }),
            let queries = try? await provider.observe.status().queries, queries.contains(where: { $0.entitySet == set })
        else { return error }
        let parts = queries.filter { $0.entitySet == set }
        if parts.contains(where: { $0.text == set && $0.isLoaded }) {
            return Failure(
                message: "\(entity) does not exist in \(directory).",
                advice: "If it is new at the service: outpost pull \(directory.shellQuoted)", cause: error)
        }
        let kept = parts.map { "\($0.name)=\($0.text)".shellQuoted }.joined(separator: ", ")
        return Failure(
            message: "\(entity) is not kept in \(directory).",
            advice: """
                The clone keeps a part of \(set): \(kept)
                Keep more of it: outpost add-query \(directory.shellQuoted) NAME=QUERY
                """, cause: error)
    }

    /// Warns of rows that an incomplete first download has not brought.
    private static func warnOfMissing(in provider: OfflineStore, _ url: ODataURL, of directory: String) async {
        guard case .name(let set, _)? = url.path.segments.first, let kept = try? await KeptSets(provider),
            kept.incomplete.contains(set.text)
        else { return }
        Terminal.error(
            """
            \(Terminal.yellow("warning:", on: .error)) Not all is here of \(set.text): its first download is not \
            complete. Go on with: outpost pull \(directory.shellQuoted)
            """)
    }

    /// Warns of unreadable values in the result.
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

    /// Prints the response that a service would send, with harmful characters escaped.
    private func printJSON(_ provider: OfflineStore, _ url: ODataURL) async throws {
        let body = try await LocalHandler(provider).answer(url)
        try await Terminal.write(body, isJSON: true)
        Terminal.write("\n")
    }

    private func printTable(_ provider: OfflineStore, _ url: ODataURL) async throws {
        let table = EntityTable(model: provider.model, url: url)
        // Pages would cut expanded collections, too.
        let preferences = Preferences(maxPageSize: url.options.expand.isEmpty ? EntityRows.sampleSize : nil)
        let response = try await provider.execute(ODataRequest(.read, url, preferences: preferences))
        switch response.body {
        case .page(var page):
            var rows = EntityRows(table, form: lines ? .lines : .fitting)
            let count = page.count
            Terminal.write(rows.add(page.entities))
            while let link = page.nextLink {
                // Ends the command if the reader of a pipe is gone.
                try Terminal.finish()
                let next = try await provider.execute(ODataRequest(following: link, preferences: preferences))
                guard case .page(let more) = next.body else { break }
                page = more
                Terminal.write(rows.add(page.entities))
            }
            Terminal.write(rows.finish())
            if let count { print(Terminal.dim("\(Terminal.number(count)) in all")) }
            hintAtExport(rows.count)
        case .entity(let entity):
            for (name, text) in table.pairs(entity) { print("\(Terminal.bold(name)): \(text)") }
        case .value(let value, let type): print(value.cell(type: type, model: provider.model))
        case .count(let count): print(count)
        case .serviceDocument: try await ServiceTable(provider).show()
        case .raw(let bytes, _): try await Terminal.write(bytes)
        case .references(let ids, _, _, _): for id in ids { print(id) }
        default: try await printJSON(provider, url)
        }
    }

    /// Tells a person at a terminal how many rows go into a file.
    private func hintAtExport(_ rows: Int) {
        guard rows > EntityRows.sampleSize, Terminal.isInteractive(.output) else { return }
        let command = "outpost export \(store.directory.shellQuoted) --query \(query.shellQuoted) --format csv"
        Terminal.error(Terminal.dim("\(Terminal.plural(rows, "row")). For a file: \(command) > FILE", on: .error))
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
