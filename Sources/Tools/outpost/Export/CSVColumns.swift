import ODataFormat
import ODataModel
import ODataQuery
import ToolLanguage

/// The columns of a CSV file: those that a query asks for, or all that its rows can have.
struct CSVColumns {
    /// The names, in the order of the columns.
    let names: [String]
    /// Whether rows may have undeclared properties, which have columns only if they are known beforehand.
    let areOpen: Bool
    /// The finder of texts that spreadsheet programs treat as formulas, which guards them on request.
    let formulas: SpreadsheetFormulas
    /// Whether the lines go to a terminal, so that each value stays on its line.
    private let areShown: Bool
    private let writer: EntityPayloadWriter

    /// Creates the columns.
    ///
    /// - Parameters:
    ///   - url: the query.
    ///   - bound: the resolved query.
    ///   - dynamic: the undeclared names that some row has.
    ///   - formulas: the finder of formulas.
    ///   - areShown: whether the lines go to a terminal.
    /// - Throws: ``Failure`` for rows that do not fit into columns.
    init(
        _ url: ODataURL, _ bound: BoundURL, model: EntityDataModel, dynamic: [String] = [],
        formulas: SpreadsheetFormulas, areShown: Bool
    ) throws {
        self.formulas = formulas
        self.areShown = areShown
        guard url.options.expand.isEmpty else { throw Self.hasNoColumns("what is expanded") }
        writer = EntityPayloadWriter(model: model, metadata: .none, version: .v401)
        let result = ResultShape(bound).shape
        var all: [String] = []
        func add(_ names: some Sequence<String>) { for name in names where !all.contains(name) { all.append(name) } }
        let shapes = ([result?.name].compactMap { $0 } + (result.map { model.derivedTypes(of: $0.name) } ?? []))
            .compactMap { name in name == result?.name ? result : model.shape(name) }
        // The bytes of streams are not values of the row.
        for shape in shapes { add(shape.properties.filter { $0.type.primitive != .stream }.map(\.name)) }
        add(bound.query?.compute.map(\.name) ?? [])
        let isWhole =
            url.options.select.isEmpty || url.options.select.contains { if case .all = $0.kind { true } else { false } }
        areOpen = isWhole && (result == nil || shapes.contains(where: \.isOpen))
        add(dynamic)
        guard !isWhole else {
            names = all
            return
        }
        let known = Set(all)
        let navigation = Set(shapes.flatMap { $0.navigationProperties.map(\.name) })
        all = []
        for item in url.options.select {
            guard case .path(let path) = item.kind else { continue }
            let whole = path.map(\.text).joined(separator: "/")
            // A type before the name is not part of the name; a complex value is written whole.
            let first = path.map(\.text).first { !$0.contains(".") } ?? whole
            guard !navigation.contains(first) else { throw Self.hasNoColumns("related entities") }
            add([known.contains(whole) ? whole : first])
        }
        names = all
    }

    /// The first line.
    var header: String { names.map { field(formulas.guarded($0)) }.joined(separator: ",") + "\n" }

    /// Returns the line of a row.
    ///
    /// - Throws: ``Failure`` if the row has a value without a column, which would be lost.
    func line(_ entity: ODataEntity) throws -> String {
        guard entity.related.isEmpty else { throw Self.hasNoColumns("related entities") }
        let dynamic = entity.dynamicProperties
        if areOpen, let other = dynamic.keys.first(where: { !names.contains($0) }) {
            throw Failure(
                message: "\(other) came into the clone while it was written, and has no column.",
                advice: "Run the same command again.")
        }
        let cells = names.map { name -> String in
            let ordinal = entity.shape.ordinal(of: name)
            let type = ordinal.map { entity.shape.properties[$0].type }
            guard let value = ordinal.map({ entity.values[$0] }) ?? dynamic[name], !value.isNull else { return "" }
            let text = text(value, type)
            if case .string = value { return field(formulas.guarded(text)) }
            return field(text)
        }
        return cells.joined(separator: ",") + "\n"
    }

    /// Returns the value in a readable form; structured values are JSON.
    private func text(_ value: ODataValue, _ type: TypeReference?) -> String {
        switch value {
        case .complex, .collection: return json(value, type)
        // The model contains the names of the members.
        case .enumeration: return json(value, type).replacing("\"", with: "")
        default: return value.lexicalText ?? ""
        }
    }

    private func json(_ value: ODataValue, _ type: TypeReference?) -> String {
        var json = JSONWriter()
        writer.writeValue(value, type: type, to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func field(_ value: String) -> String { CSVField.text(value, isShown: areShown) }

    private static func hasNoColumns(_ what: TerminalText) -> Failure {
        Failure(
            message: "Lines of CSV have no columns for \(what).",
            advice: "Leave it out of the query, or write JSON: --format json", status: .misused)
    }
}
