import GRDB
import ODataModel

/// Puts the model of somebody else's database together, table by table, then the relations between them.
struct ForeignModelBuilder {
    /// A table on its way into the model.
    struct Draft {
        var table: ForeignSchema.Table
        /// The entity set's or function import's name.
        var set: String
        var type: StructuredType
        /// The columns of the type's properties, by ordinal.
        var columns: [ColumnStorage]
        var rowID: String?
        /// False for a view without a key.
        var isSet: Bool
        var names: DistinctNames
        var navigation: [String: NavigationStorage] = [:]
        var bindings: [NavigationPropertyBinding] = []

        /// The property of a column.
        func property(ofColumn column: String) -> Property? {
            columns.firstIndex { $0.name.lowercased() == column.lowercased() }.map { type.properties[$0] }
        }
    }

    let schema: ForeignSchema
    let namespace: String
    let keys: [String: [String]]
    let database: Database
    private(set) var warnings: [ForeignModel.Warning] = []
    var drafts: [Draft] = []

    init(schema: ForeignSchema, namespace: String, keys: [String: [String]], database: Database) {
        self.schema = schema
        self.namespace = namespace
        self.keys = keys
        self.database = database
    }

    mutating func build() throws -> (model: EntityDataModel, tables: [TableStorage], views: [String: TableStorage]) {
        var setNames = DistinctNames(separator: "_")
        let sets = schema.tables.map { setNames.name(LegalName.identifier($0.name)) }
        var typeNames = DistinctNames(reserved: ["Container"], separator: "_")
        for (table, set) in zip(schema.tables, sets) {
            do {
                let type = typeNames.name(typeName(set, among: sets))
                drafts.append(try draft(table, set: set, type: type))
            } catch let error as DatabaseError where table.isView {
                warn(table.name, nil, "the view cannot be read: \(error.message ?? "no reason given")")
            }
        }
        relate()
        return try assemble()
    }

    mutating func warn(_ table: String, _ column: String?, _ message: String) {
        warnings.append(.init(table: table, column: column, message: message))
    }

    /// The singular where it is nobody else's name.
    private func typeName(_ set: String, among sets: [String]) -> String {
        let singular = LegalName.singular(set)
        return sets.contains { $0.lowercased() == singular.lowercased() && $0 != set } ? set : singular
    }

    // MARK: Tables

    private mutating func draft(_ table: ForeignSchema.Table, set: String, type typeName: String) throws -> Draft {
        let probe = ColumnProbe(database: database, table: table.name)
        var names = DistinctNames(reserved: [typeName], separator: "_")
        var properties: [Property] = []
        var columns: [ColumnStorage] = []
        var nullable: Set<String> = []
        for column in table.columns {
            let finding = try probe.find(column)
            if let warning = finding.warning { warn(table.name, column.name, warning) }
            if finding.hasNulls { nullable.insert(column.name) }
            let isKey = table.primaryKey.contains(column.name)
            let name = names.name(LegalName.identifier(column.name))
            var property = Property(
                name: name, type: .primitive(finding.type),
                isNullable: !(column.isNotNull || isKey) || finding.hasNulls, facets: finding.facets)
            if name != column.name { property.annotations.append(Self.original(column.name)) }
            let isRowID = isKey && table.keyIsRowID
            if column.isGenerated {
                property.annotations.append(Self.tag("Computed"))
            } else if isRowID {
                property.annotations.append(Self.tag("ComputedDefaultValue"))
            } else if let text = column.defaultText, text.uppercased() != "NULL" {
                property.defaultValue = Self.literal(text, type: finding.type)
                if property.defaultValue == nil { property.annotations.append(Self.tag("ComputedDefaultValue")) }
            }
            properties.append(property)
            columns.append(
                ColumnStorage(
                    name: column.name, type: property.type, codec: finding.codec,
                    isGenerated: column.isGenerated || isRowID || column.defaultText != nil))
        }
        let rowID = Self.rowIDName(of: table)
        var key = table.isView ? keys[table.name] ?? [] : table.primaryKey
        if !table.isView, let empty = key.first(where: nullable.contains) {
            warn(table.name, empty, "part of the primary key, but null in some rows; the row id is the key instead")
            key = []
        }
        if !table.isView, key.isEmpty, let rowID {
            let name = ForeignModel.rowIDProperty
            properties.insert(
                Property(
                    name: name, type: .primitive(.int64), isNullable: false, annotations: [Self.tag("Computed")]), at: 0
            )
            columns.insert(
                ColumnStorage(name: rowID, type: .primitive(.int64), codec: .integer, isGenerated: true), at: 0)
            key = [rowID]
        }
        let keyProperties = key.compactMap { column -> StructuredType.KeyProperty? in
            columns.firstIndex { $0.name.lowercased() == column.lowercased() }.map { .init(path: properties[$0].name) }
        }
        let isSet = !keyProperties.isEmpty
        for key in keyProperties {
            if let index = properties.firstIndex(where: { $0.name == key.path }) {
                properties[index].isNullable = false
            }
        }
        var annotations: [Annotation] = []
        if set != table.name { annotations.append(Self.original(table.name)) }
        return Draft(
            table: table, set: set,
            type: StructuredType(
                name: QualifiedName(namespace, typeName), kind: isSet ? .entity : .complex, key: keyProperties,
                properties: properties, annotations: annotations),
            columns: columns, rowID: rowID, isSet: isSet, names: names)
    }

    /// A name by which a table's row id can be had: SQLite has three, and a column may take any of them away.
    private static func rowIDName(of table: ForeignSchema.Table) -> String? {
        guard table.hasRowID else { return nil }
        return ["rowid", "_rowid_", "oid"].first { table.column($0) == nil }
    }

    private static func original(_ name: String) -> Annotation {
        Annotation(term: ForeignModel.originalNameTerm, value: .constant(kind: "String", text: name))
    }

    private static func tag(_ term: String) -> Annotation {
        Annotation(term: "Org.OData.Core.V1.\(term)", value: .constant(kind: "Bool", text: "true"))
    }

    /// The lexical form of a default that is a literal of the column's type; `nil` for expressions.
    private static func literal(_ text: String, type: PrimitiveType) -> String? {
        var text = text
        while text.hasPrefix("("), text.hasSuffix(")") { text = String(text.dropFirst().dropLast()) }
        if text.hasPrefix("'"), text.hasSuffix("'"), text.count >= 2 {
            text = String(text.dropFirst().dropLast()).replacing("''", with: "'")
        } else if type == .string {
            return nil
        }
        return (try? ODataValue(lexical: text, type: type)) == nil ? nil : text
    }

    // MARK: The whole

    private func assemble() throws -> (model: EntityDataModel, tables: [TableStorage], views: [String: TableStorage]) {
        let sets = drafts.filter(\.isSet)
        let functions = drafts.filter { !$0.isSet }
        let readOnly = ["Insert", "Update", "Delete"].map { verb in
            Annotation(
                term: "Org.OData.Capabilities.V1.\(verb)Restrictions",
                value: .record(
                    type: nil,
                    properties: [
                        .init(
                            name: verb == "Insert" ? "Insertable" : verb == "Update" ? "Updatable" : "Deletable",
                            value: .constant(kind: "Bool", text: "false"))
                    ]))
        }
        let container = EntityContainer(
            name: QualifiedName(namespace, "Container"),
            entitySets: sets.map { draft in
                EntitySet(
                    name: draft.set, type: draft.type.name, bindings: draft.bindings,
                    annotations: draft.type.annotations + (draft.table.isView ? readOnly : []))
            },
            operationImports: functions.map {
                OperationImport(
                    name: $0.set, operation: QualifiedName(namespace, "\($0.set)_rows"), kind: .function,
                    isInServiceDocument: true)
            })
        let schema = Schema(
            namespace: namespace, structuredTypes: drafts.map(\.type),
            operations: functions.map {
                Operation(
                    name: QualifiedName(namespace, "\($0.set)_rows"), kind: .function,
                    returnType: .collection(.complex($0.type.name)), isReturnNullable: false)
            },
            container: container)
        let model = try EntityDataModel(schemas: [schema])
        func storage(_ draft: Draft) -> TableStorage? {
            guard let shape = model.shape(draft.type.name) else { return nil }
            return TableStorage(
                set: draft.set, shape: shape, table: draft.table.name, rowID: draft.rowID,
                properties: draft.columns.map { .column($0) }, navigation: draft.navigation,
                etag: draft.table.isView ? .none : .contentDigest, isReadOnly: draft.table.isView)
        }
        let views = functions.compactMap { draft in storage(draft).map { (draft.set, $0) } }
        return (
            model, sets.compactMap(storage), Dictionary(views, uniquingKeysWith: { first, _ in first })
        )
    }
}
