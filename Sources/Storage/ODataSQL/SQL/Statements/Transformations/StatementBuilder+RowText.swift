import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Rows as JSON text that SQLite creates, in the form of a response.
extension StatementBuilder {
    /// Returns the row as the text of a JSON object.
    func rowText() throws -> SQLFragment {
        guard let (column, kinds) = variants else {
            return try object(scope, scope.table, names: names, attached: scope.shownAttachments)
        }
        let branches = try kinds.enumerated().map { index, kind -> SQLFragment in
            let attached = scope.shownAttachments.filter { !kind.lacking.contains($0.name) }
            let text = try object(scope, kind.isEntity ? scope.table : nil, names: kind.names, attached: attached)
            return "WHEN \(.number(index)) THEN \(text)"
        }
        return "CASE \(column) \(list: branches, by: " ") END"
    }

    /// Returns the row of a table as the text of a JSON object.
    func objectText(_ scope: SQLScope, _ table: TableStorage) throws -> SQLFragment {
        try object(scope, table, names: [], attached: [])
    }

    /// A member of an object: a value, or an object with further members.
    private struct Place {
        var name: String
        var text: SQLFragment?
        /// An expression that is NULL if there is no object.
        var presence: SQLFragment?
        /// The members of all rows, and those of some rows, which start with a comma.
        var members: [SQLFragment] = []
        var others: [SQLFragment] = []
        var places: [Place] = []
    }

    /// Returns an object with the properties of a table, named values, and attached rows.
    private func object(
        _ scope: SQLScope, _ table: TableStorage?, names: [String], attached: [SQLScope.Attachment]
    ) throws -> SQLFragment {
        var place = Place(name: "")
        try fill(&place, scope, table: table, names: names, attached: attached)
        return Self.object(place)
    }

    private func fill(
        _ place: inout Place, _ scope: SQLScope, table: TableStorage?, names: [String],
        attached: [SQLScope.Attachment]
    ) throws {
        if let table {
            place.members += try zip(table.shape.properties, table.properties).compactMap {
                try member($0, $1, scope: scope)
            }
            place.others += try membersOfSome(table, scope)
        }
        for attachment in attached {
            guard attachment.isInline else { throw ODataError.notImplemented("\(attachment.name) within nest") }
            try Self.place(at: attachment.name.split(separator: "/").map(String.init)[...], in: &place.places) {
                place in
                place.presence = attachment.presence
                try fill(
                    &place, attachment.scope, table: attachment.scope.table, names: attachment.names,
                    attached: attachment.scope.shownAttachments)
            }
        }
        for name in names {
            guard let operand = scope.computed[name] else { continue }
            // A value that is computed for a table's row has replaced its property.
            if let table, table.shape.ordinal(of: name) != nil { continue }
            let path = name.split(separator: "/").map(String.init)
            try Self.place(at: path[...], in: &place.places) { $0.text = try valueText(operand) }
        }
    }

    /// Calls a closure with the member at a path, which is created if necessary.
    private static func place(
        at path: ArraySlice<String>, in places: inout [Place], _ body: (inout Place) throws -> Void
    ) throws {
        guard let first = path.first else { return }
        let index =
            places.firstIndex { $0.name == first }
            ?? {
                places.append(Place(name: first))
                return places.count - 1
            }()
        if path.count == 1 { return try body(&places[index]) }
        try place(at: path.dropFirst(), in: &places[index].places, body)
    }

    private static func object(_ place: Place) -> SQLFragment {
        let members = place.members + place.places.map { "\(label($0.name)) || \(value($0))" as SQLFragment }
        let all = "\(list: members.isEmpty ? ["''"] : members, by: " || ',' || ")" as SQLFragment
        return "'{' || \(list: [all] + place.others, by: " || ") || '}'"
    }

    private static func value(_ place: Place) -> SQLFragment {
        if let text = place.text { return text }
        guard let presence = place.presence else { return object(place) }
        return "CASE WHEN \(presence) IS NULL THEN 'null' ELSE \(object(place)) END"
    }

    /// Returns the members that only some rows of a table have, each after a comma: properties of derived types and
    /// dynamic properties.
    private func membersOfSome(_ table: TableStorage, _ scope: SQLScope) throws -> [SQLFragment] {
        var result: [SQLFragment] = []
        for (name, storages) in table.derivedProperties.sorted(by: { $0.key.description < $1.key.description }) {
            guard let shape = compiler.mapping.model.shape(name), let discriminator = table.discriminator else {
                continue
            }
            let own = zip(shape.properties.dropFirst(table.properties.count), storages)
            let parts = try own.compactMap { try member($0, $1, scope: scope) }
            guard !parts.isEmpty else { continue }
            result.append(
                """
                CASE WHEN \(scope.sql(discriminator)) = \(bind: name.description.databaseValue) \
                THEN ',' || \(list: parts, by: " || ',' || ") ELSE '' END
                """)
        }
        if let dynamic = table.dynamicProperties {
            let column = scope.sql(dynamic)
            result.append(
                """
                CASE WHEN json(\(column)) <> '{}' THEN ',' || substr(json(\(column)), 2, length(json(\(column))) - 2) \
                ELSE '' END
                """)
        }
        return result
    }

    static func label(_ name: String) -> SQLFragment {
        var writer = JSONWriter()
        writer.string(name)
        return "\(bind: (String(decoding: writer.bytes, as: UTF8.self) + ":").databaseValue)"
    }

    private func member(
        _ property: Property, _ storage: PropertyStorage, scope: SQLScope
    ) throws -> SQLFragment? {
        switch storage {
        case .column(let column):
            if property.type.primitive == .stream { return nil }
            let operand = scope.computed[property.name] ?? scope.column(column, isNullable: true)
            return "\(Self.label(property.name)) || \(try valueText(operand))"
        case .complex(let shape, let nested, let presence):
            let parts = try zip(shape.properties, nested).compactMap { try member($0, $1, scope: scope) }
            let object: SQLFragment = "'{' || \(list: parts.isEmpty ? ["''"] : parts, by: " || ',' || ") || '}'"
            return """
                \(Self.label(property.name)) || CASE WHEN coalesce(\(scope.sql(presence)), 0) = 1 THEN \(object) ELSE 'null' END
                """
        case .absent: return nil
        }
    }

    /// Returns a value as JSON text of a response; `null` if there is no value.
    func valueText(_ operand: Operand) throws -> SQLFragment {
        let value = try compiler.normalized(operand)
        let x = value.sql
        switch value.codec {
        case .integer:
            // Enumerations are written as the names of their members, or as a number if there are none.
            if case .enumeration = value.type { break }
            return "coalesce(CAST(\(x) AS TEXT), 'null')"
        case .boolean: return "CASE \(x) WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END"
        case .json: return "coalesce(\(value.dynamic?.json ?? x), 'null')"
        case .decimalBytes: return "coalesce(outpost_dec_text(\(x)), 'null')"
        case .double, .single:
            let text = try compiler.cast(value, to: .primitive(.string)).sql
            // JSON numbers can be neither NaN nor infinite.
            return """
                CASE WHEN typeof(\(x)) = 'real' AND abs(\(x)) <= \(bind: Double.greatestFiniteMagnitude.databaseValue) \
                THEN \(text) ELSE coalesce(json_quote(\(text)), 'null') END
                """
        case .binary: return "coalesce(json_quote(outpost_text_of_binary(\(x))), 'null')"
        default: break
        }
        return "coalesce(json_quote(\(try compiler.cast(value, to: .primitive(.string)).sql)), 'null')"
    }
}
