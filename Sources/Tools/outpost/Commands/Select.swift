import ArgumentParser
import ODataModel
import ODataQuery
import ODataSQL
import OfflineOData
import ToolLanguage

struct Select: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "select",
        abstract: translated("Run a dynamic query on a clone: joins, groups and queries within queries."),
        discussion: translated(
            paragraphs: """
                The query is a JSON file. It can do more than an OData URL: join an entity set with itself or with the \
                result of another query, and combine results. It reads the clone alone and is never sent.

                Each source has an alias, and an attribute is written with it: c.City. The tests are isNull, notNull, \
                equal, notEqual, like, notLike, lessThan, lessEqual, greaterThan, greaterEqual, contains, startsWith, \
                endsWith, notContains, notStartsWith, notEndsWith, in, notIn, exists and notExists.

                A file that finds the cities with the greatest freight:
                  {"from": {"set": "Customers", "as": "c"},
                   "join": [{"set": "Orders", "as": "o",
                             "on": {"attribute": "o.CustomerID", "test": "equal",
                                    "value": {"attribute": "c.CustomerID"}}}],
                   "where": {"attribute": "c.City", "test": "notNull"},
                   "groupBy": ["c.City"],
                   "select": ["c.City", {"value": {"aggregate": "sum", "of": "o.Freight"}, "as": "freight"}],
                   "orderBy": [{"column": "freight", "descending": true}],
                   "take": 10}

                EXAMPLE
                  outpost select shop cities.json
                  outpost select shop cities.json --csv
                  outpost select shop cities.json --explain
                """))

    @OptionGroup var store: StoreOptions

    @Argument(help: .text("The file with the query as JSON."))
    var query: String

    @Flag(help: .text("Print the rows as an array of JSON objects."))
    var json = false

    @Flag(help: .text("Print the rows as lines of CSV."))
    var csv = false

    @Flag(
        name: .customLong("guard-formulas"),
        help: .text("Put an apostrophe before text that a spreadsheet program would run as a formula."))
    var guardsFormulas = false

    @Flag(help: .text("Show how the query is answered: its parsed form, the SQL and the plan of SQLite."))
    var explain = false

    func validate() throws {
        guard !(csv && json) else { throw ValidationError(translated("--csv and --json exclude each other.")) }
        guard !(csv && explain) else { throw ValidationError(translated("--csv and --explain exclude each other.")) }
        guard !guardsFormulas || csv else { throw ValidationError(translated("--guard-formulas goes with --csv.")) }
    }

    func run() async throws {
        let bytes = try NamedFile.contents(of: query, advice: "Name a file with a query as JSON.")
        let selection: Selection
        do throws(SelectionError) {
            selection = try Selection(json: bytes)
        } catch {
            throw Failure(
                message: "\(query) is no query. \(LibraryText.words(of: error))",
                advice: "See an example: outpost select --help",
                status: .misused, cause: error)
        }
        do {
            try await store.reading { provider in
                if explain {
                    try await printExplanation(of: selection, in: provider)
                } else {
                    try await printRows(of: selection, in: provider)
                }
            }
        } catch let error as SelectionError {
            throw Failure(
                message: TerminalText(LibraryText.words(of: error)), advice: "Correct the query in \(query).",
                cause: error)
        }
    }

    private func printExplanation(of selection: Selection, in provider: OfflineStore) async throws {
        let explanation = try await provider.queries.explain(selection)
        guard json else {
            print(explanation.text)
            return
        }
        print(JSONText(explanation.description.split(separator: "\n").map(String.init)).text)
    }

    private func printRows(of selection: Selection, in provider: OfflineStore) async throws {
        let rows = try provider.queries.rows(of: selection)
        var output = SelectedRows(
            rows.columns, form: json ? .json : csv ? .csv : .table, model: provider.model,
            formulas: SpreadsheetFormulas(guards: guardsFormulas))
        for try await row in rows {
            output.add(row)
            // Ends the command if the reader of a pipe is gone.
            try Terminal.finish()
        }
        output.finish()
        guard output.formulas.unguarded > 0 else { return }
        Terminal.error(
            """
            \(Terminal.yellow("warning:", on: .error)) \(Terminal.plural(output.formulas.unguarded, "value")) begin \
            like formulas of a spreadsheet program. Guard them with --guard-formulas.
            """)
    }
}
