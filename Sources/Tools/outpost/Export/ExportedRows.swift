import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

/// The rows of a query, read page by page so that they are never in memory as a whole.
struct ExportedRows {
    /// The form of the rows.
    let form: RowFile.Form
    /// The entity set of the rows.
    let set: String?
    private let url: ODataURL
    private let result: ResultShape
    private let provider: OfflineStore
    /// The number of rows of a page; `nil` for all, because pages would cut expanded collections.
    private let pageSize: Int?

    init(
        _ url: ODataURL, _ format: Export.Format, provider: OfflineStore, formulas: SpreadsheetFormulas,
        areShown: Bool = false
    ) async throws {
        self.url = url
        self.provider = provider
        pageSize = url.options.expand.isEmpty ? 1000 : nil
        let bound = try provider.traits.queryLanguage.bind(url, model: provider.model)
        result = ResultShape(bound)
        set = result.set?.name
        guard format == .csv else {
            form = .json
            return
        }
        var columns = try CSVColumns(url, bound, model: provider.model, formulas: formulas, areShown: areShown)
        if columns.areOpen {
            // The header comes first, so all rows are searched for undeclared properties.
            var dynamic: Set<String> = []
            try await Self.eachPage(of: url, pageSize, provider: provider) { entities in
                for entity in entities { dynamic.formUnion(entity.dynamicProperties.keys) }
            }
            columns = try CSVColumns(
                url, bound, model: provider.model, dynamic: dynamic.sorted(), formulas: formulas, areShown: areShown)
        }
        form = .csv(columns)
    }

    /// Writes the rows.
    ///
    /// - Parameter report: receives the number of rows so far.
    /// - Returns: the number of rows.
    func write(to file: RowFile, _ report: (Int) -> Void) async throws -> Int {
        guard result.number != .none else { throw Self.noRows(url) }
        var count = 0
        func took(_ more: Int) {
            count += more
            report(count)
        }
        // Nothing is written for a query that is refused.
        switch form {
        case .json:
            try await eachJSONPage { page in
                for row in page.rows { try file.append(row) }
                took(page.rows.count)
            }
        case .csv(let columns):
            try await Self.eachPage(of: url, pageSize, provider: provider) { entities in
                try file.begin()
                for entity in entities { try file.append(Array(try columns.line(entity).utf8)) }
                took(entities.count)
            }
        }
        try file.begin()
        try file.end()
        return count
    }

    private static func eachPage(
        of url: ODataURL, _ pageSize: Int?, provider: OfflineStore, body: ([ODataEntity]) throws -> Void
    ) async throws {
        let preferences = Preferences(maxPageSize: pageSize)
        var request: ODataRequest? = ODataRequest(.read, url, preferences: preferences)
        while let current = request {
            request = nil
            switch try await provider.execute(current).body {
            case .page(let page):
                try body(page.entities)
                request = page.nextLink.map { ODataRequest(following: $0, preferences: preferences) }
            case .entity(let entity): try body([entity])
            default: throw noRows(url)
            }
        }
    }

    private func eachJSONPage(_ body: (JSONPage) throws -> Void) async throws {
        let handler = try LocalHandler(provider)
        var answer = try await handler.answer(url, pageSize: pageSize)
        while true {
            let page = try JSONPage(try await answer.collect(limit: .max), isCollection: result.number == .many)
            try body(page)
            guard let link = page.nextLink else { return }
            answer = try await handler.answer(following: link, pageSize: pageSize)
        }
    }

    private static func noRows(_ url: ODataURL) -> Failure {
        Failure(message: "\(url) finds no rows.", status: .misused)
    }
}

/// The rows of a JSON response, unchanged.
private struct JSONPage {
    private(set) var rows: [[UInt8]] = []
    private(set) var nextLink: String?

    /// Reads a response.
    ///
    /// - Parameter isCollection: whether the response is a collection instead of one row.
    init(_ bytes: [UInt8], isCollection: Bool) throws {
        guard isCollection else {
            rows = [bytes]
            return
        }
        let (ranges, link) = try JSONScanner.scan(bytes) { scanner throws(JSONError) in
            var (ranges, link): ([Range<Int>], String?) = ([], nil)
            try scanner.beginObject()
            while let key = try scanner.nextKey()?.string {
                switch key {
                case "value":
                    try scanner.beginArray()
                    while try scanner.nextElement() { ranges.append(try scanner.skipValue()) }
                case "@odata.nextLink": link = try scanner.readString()
                default: _ = try scanner.skipValue()
                }
            }
            return (ranges, link)
        }
        rows = ranges.map { Array(bytes[$0]) }
        nextLink = link
    }
}
