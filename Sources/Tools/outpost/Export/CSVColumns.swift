import ODataFormat
import ODataModel
import ODataQuery

/// The columns of a CSV file: those that a query asks for, or all that its rows can have.
struct CSVColumns {
    /// The names, in the order of the columns.
    let names: [String]
    /// Whether a row may have properties that no metadata tell of, which have columns only when they are known beforehand.
    let areOpen: Bool
    /// Finds what spreadsheet programs take for formulas, and guards them where that is wanted.
    let formulas: SpreadsheetFormulas
    /// Whether a person looks at the lines, so that each value is on its own.
    private let areShown: Bool
    private let writer: EntityPayloadWriter

    /// - Parameters:
    ///   - url: the query.
    ///   - bound: the same, resolved.
    ///   - dynamic: the names that no metadata tell of and that some row has.
    ///   - formulas: finds formulas.
    ///   - areShown: whether a person looks at the lines.
    /// - Throws: ``Failure`` for a query whose rows do not fit into columns.
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
        // The bytes of streams are no values of the row.
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
            // A type before the name is no part of it; of a complex value the whole is given.
            let first = path.map(\.text).first { !$0.contains(".") } ?? whole
            guard !navigation.contains(first) else { throw Self.hasNoColumns("related entities") }
            add([known.contains(whole) ? whole : first])
        }
        names = all
    }

    /// The first line.
    var header: String { names.map { field(formulas.guarded($0)) }.joined(separator: ",") + "\n" }

    /// The line of a row.
    ///
    /// - Throws: ``Failure`` where the row has something that no column is for: it would be lost.
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

    /// The value as it can be read again: what is no single value is JSON.
    private func text(_ value: ODataValue, _ type: TypeReference?) -> String {
        switch value {
        case .complex, .collection: return json(value, type)
        // The names of its members, which are in the model.
        case .enumeration: return json(value, type).replacing("\"", with: "")
        default: return value.lexicalText ?? ""
        }
    }

    private func json(_ value: ODataValue, _ type: TypeReference?) -> String {
        var json = JSONWriter()
        writer.writeValue(value, type: type, to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// A field as RFC 4180 has it. Empty text is quoted: an empty field without quotation marks is null.
    private func field(_ value: String) -> String {
        let text = areShown ? HarmlessText.line(value) : value
        let special = [UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        guard text.isEmpty || text.utf8.contains(where: { special.contains($0) }) else { return text }
        // Byte by byte, since a mark may stand on a quotation mark and make one character of both.
        var bytes = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }

    private static func hasNoColumns(_ what: String) -> Failure {
        Failure(
            message: "Lines of CSV have no columns for \(what).",
            advice: "Leave it out of the query, or write JSON: --format json", status: .misused)
    }
}
