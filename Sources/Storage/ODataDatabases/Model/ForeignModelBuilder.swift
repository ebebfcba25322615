import GRDB
import ODataModel
import ODataSQL

/// A builder of the model and mapping of an existing database.
struct ForeignModelBuilder {
    let schema: ForeignSchema
    let options: ForeignModel.Options
    private(set) var warnings: [String] = []
    var drafts: [ForeignTableDraft] = []
    private let emptyModel: EntityDataModel

    /// The permitted types of key properties (OData CSDL 4.01, 6.5).
    private static let keyTypes: Set<PrimitiveType> = [
        .boolean, .date, .dateTimeOffset, .decimal, .guid, .int64, .string, .timeOfDay,
    ]

    /// Creates a builder and the names of the entity sets and functions.
    ///
    /// - Throws: ``ForeignDatabaseError`` for keys of missing views or columns.
    init(schema: ForeignSchema, options: ForeignModel.Options) throws {
        self.schema = schema
        self.options = options
        emptyModel = try EntityDataModel(schemas: [])
        var names = ForeignNames()
        let sets = names.names(schema.tables.map(\.name))
        var keys: [String: [String]] = [:]
        for (view, columns) in options.viewKeys {
            let index = schema.tables.indices.first {
                schema.tables[$0].isView
                    && (ForeignSchema.folded(schema.tables[$0].name) == ForeignSchema.folded(view) || sets[$0] == view)
            }
            guard let index else {
                throw ForeignDatabaseError.unknownView(view, known: schema.tables.filter(\.isView).map(\.name))
            }
            let table = schema.tables[index]
            keys[table.name] = try columns.map { name in
                let column =
                    table.column(name) ?? table.columns.first { ForeignNames.identifier($0.name) == name }
                guard let column else {
                    throw ForeignDatabaseError.unknownColumn(name, of: table.name, known: table.columns.map(\.name))
                }
                return column.name
            }
        }
        for (table, set) in zip(schema.tables, sets) {
            let key = keys[table.name] ?? []
            var draft = ForeignTableDraft(
                table: table, role: table.isView && key.isEmpty ? .function : .entitySet, set: set)
            draft.keyColumns = table.isView ? key : table.primaryKey
            drafts.append(draft)
        }
    }

    /// Returns the annotation with the original name, if the name has changed.
    static func originalName(_ original: String, servedAs name: String) -> [Annotation] {
        original == name
            ? []
            : [Annotation(term: ForeignModel.originalNameTerm, value: .constant(kind: "String", text: original))]
    }

    mutating func warn(_ text: String) { warnings.append(text) }

    // MARK: Columns

    /// Reads the values of all columns, and determines the properties and the key of each table.
    mutating func probe(in database: Database) throws {
        var served: [ForeignTableDraft] = []
        for var draft in drafts {
            let probes: [ColumnProbe]
            do {
                probes = try ColumnProbe.probe(draft.table, in: database)
            } catch let error as DatabaseError where draft.table.isView && error.resultCode == .SQLITE_ERROR {
                warn("The view \(draft.table.name) is not served: \(error.message ?? "it is broken").")
                continue
            }
            addMembers(to: &draft, probes)
            if draft.role == .entitySet, try !chooseKey(&draft, probes, in: database) { continue }
            served.append(draft)
        }
        drafts = served
    }

    private mutating func addMembers(to draft: inout ForeignTableDraft, _ probes: [ColumnProbe]) {
        let names = draft.names.names(draft.table.columns.map(\.name))
        for (index, column) in draft.table.columns.enumerated() {
            let place = "Column \(draft.table.name).\(column.name)"
            guard
                let choice = ColumnChoice.choose(
                    DeclaredType(column.declaredType), probes[index], isOfView: draft.table.isView)
            else {
                warn(
                    "\(place) holds \(ColumnChoice.description(of: probes[index])); no type holds both, it is left out."
                )
                continue
            }
            if let warning = choice.warning {
                let declared =
                    column.declaredType.isEmpty ? "declared without a type" : "declared \(column.declaredType)"
                warn("\(place), \(declared), \(warning).")
            }
            let isAlias =
                draft.table.hasRowIDAlias
                && ForeignSchema.folded(column.name) == ForeignSchema.folded(draft.table.rowIDColumn ?? "")
            var annotations = Self.originalName(column.name, servedAs: names[index])
            var isGenerated = false
            var defaultValue: String?
            if column.isGenerated {
                annotations.append(Self.flag(Vocabulary.computed))
                isGenerated = true
            } else if isAlias {
                annotations.append(Self.flag(Vocabulary.computedDefaultValue))
                isGenerated = true
            } else if let expression = column.defaultExpression, !DefaultLiteral.isNull(expression) {
                isGenerated = true
                defaultValue = DefaultLiteral.lexical(expression, choice: choice, model: emptyModel)
                if defaultValue == nil { annotations.append(Self.flag(Vocabulary.computedDefaultValue)) }
            }
            let type = TypeReference.primitive(choice.type)
            draft.members.append(
                .init(
                    column: column,
                    property: Property(
                        name: names[index], type: type, isNullable: !column.isNotNull && !isAlias,
                        facets: choice.facets, defaultValue: defaultValue, annotations: annotations),
                    storage: ColumnStorage(
                        name: column.name, type: type, codec: choice.codec, isGenerated: isGenerated,
                        comparesBytes: column.collation?.uppercased() == "BINARY")))
        }
    }

    static func flag(_ term: String, _ value: Bool = true) -> Annotation {
        Annotation(term: term, value: .constant(kind: "Bool", text: value ? "true" : "false"))
    }

    // MARK: Keys

    /// Determines the key of an entity set; `false` if the table cannot be served.
    private mutating func chooseKey(
        _ draft: inout ForeignTableDraft, _ probes: [ColumnProbe], in database: Database
    ) throws -> Bool {
        let name = draft.table.name
        var refusal: String?
        for column in draft.keyColumns {
            guard let member = draft.member(column), let type = member.property.type.primitive else {
                refusal = "its column \(column) is not served"
                continue
            }
            let index = draft.table.columns.firstIndex { $0.name == member.storage.name }
            if !Self.keyTypes.contains(type) {
                refusal = "\(type.rawValue) of \(column) is no type for keys"
            } else if let index, probes[index].nulls > 0 {
                refusal = "\(column) is NULL in \(probes[index].nulls) rows"
            }
        }
        if !draft.keyColumns.isEmpty, refusal == nil, !draft.table.isView, try repeatedKeys(draft, in: database) > 0 {
            refusal = "several rows are served with the same \(draft.keyColumns.joined(separator: ", "))"
        }
        if !draft.keyColumns.isEmpty, refusal == nil {
            for column in draft.keyColumns {
                let folded = ForeignSchema.folded(column)
                for index in draft.members.indices
                where ForeignSchema.folded(draft.members[index].storage.name) == folded {
                    draft.members[index].property.isNullable = false
                }
            }
            if draft.table.isView { try checkUnique(draft, in: database) }
            return true
        }
        guard let rowID = draft.table.rowIDColumn, !draft.table.hasRowIDAlias else {
            warn("\(name) is not served: \(refusal ?? "nothing identifies its rows").")
            return false
        }
        if let refusal {
            warn(
                "The primary key of \(name) is not used, since \(refusal); its rowid is, which VACUUM may change."
            )
        } else {
            warn("\(name) has no primary key; the key is its rowid, which VACUUM may change.")
        }
        let property = Property(
            name: draft.names.distinct("_rowid"), type: .primitive(.int64), isNullable: false,
            annotations: [Self.flag(Vocabulary.computed)])
        draft.members.insert(
            .init(
                column: nil, property: property,
                storage: ColumnStorage(name: rowID, type: .primitive(.int64), codec: .integer, isGenerated: true)),
            at: 0)
        draft.keyColumns = [rowID]
        return true
    }

    /// Returns the number of served keys that occur in several rows. SQLite compares stored values: the number
    /// 10 and the text "10" are different keys.
    private func repeatedKeys(_ draft: ForeignTableDraft, in database: Database) throws -> Int {
        let members = draft.keyColumns.compactMap(draft.member)
        guard draft.table.isView || members.contains(where: { $0.storage.codec.hasSeveralForms }) else { return 0 }
        StoreFunctions.register(in: database)
        let columns = members.map { member -> SQLFragment in
            let column: SQLFragment = "\(name: member.storage.name)"
            return switch member.storage.codec {
            case .anyText: .anyText(of: column)
            case .guidText: "lower(\(column))"
            case .timeText: "outpost_time_of_text(\(column), '')"
            default: "\(column) COLLATE BINARY"
            }
        }
        let repeated: SQLFragment = """
            SELECT COUNT(*) FROM (SELECT 1 FROM \(name: draft.table.name) GROUP BY \(list: columns) \
            HAVING COUNT(*) > 1)
            """
        return try Int.fetchOne(database, sql: repeated.sql) ?? 0
    }

    private mutating func checkUnique(_ draft: ForeignTableDraft, in database: Database) throws {
        let count = try repeatedKeys(draft, in: database)
        if count > 0 {
            warn("\(count) values of the key given for the view \(draft.table.name) stand in more than one row.")
        }
    }

    // MARK: Types

    /// Names the type of each table: the singular of the set's name if it is trivial and unique, otherwise the
    /// name of the set.
    mutating func nameTypes() {
        var names = ForeignNames(reserved: ["Container"])
        let sets = Set(drafts.map { $0.set.lowercased() })
        var singulars: [String: Int] = [:]
        for draft in drafts { singulars[(ForeignNames.singular(draft.set) ?? draft.set).lowercased(), default: 0] += 1 }
        for index in drafts.indices {
            let set = drafts[index].set
            if let singular = ForeignNames.singular(set), !sets.contains(singular.lowercased()),
                singulars[singular.lowercased()] == 1, let name = names.exactly(singular)
            {
                drafts[index].type = name
            } else {
                drafts[index].type = names.distinct(set)
            }
        }
    }

    // MARK: Results

    /// Returns the model, the mapping and the functions.
    func finish() throws -> (
        model: EntityDataModel, mapping: StorageMapping, functions: [String: ForeignModel.ViewFunction],
        warnings: [String]
    ) {
        let namespace = options.namespace
        let functionDrafts = drafts.filter { $0.role == .function }
        var operations: [ODataOperation] = []
        var imports: [OperationImport] = []
        var functionNames: [String: QualifiedName] = [:]
        var names = ForeignNames(reserved: drafts.map(\.type) + ["Container"])
        for draft in functionDrafts {
            let name = QualifiedName(namespace, names.distinct("Read_\(draft.set)"))
            functionNames[draft.set] = name
            let annotations = Self.originalName(draft.table.name, servedAs: draft.set)
            operations.append(
                ODataOperation(
                    name: name, kind: .function, isComposable: true,
                    returnType: .collection(.complex(QualifiedName(namespace, draft.type))), isReturnNullable: false,
                    annotations: annotations))
            imports.append(
                OperationImport(
                    name: draft.set, operation: name, kind: .function, isInServiceDocument: true,
                    annotations: annotations))
        }
        let sets = drafts.filter { $0.role == .entitySet }
        let container = EntityContainer(
            name: QualifiedName(namespace, "Container"),
            entitySets: sets.map { draft in
                EntitySet(
                    name: draft.set, type: QualifiedName(namespace, draft.type), bindings: draft.bindings,
                    annotations: Self.originalName(draft.table.name, servedAs: draft.set) + capabilities(of: draft))
            }, operationImports: imports,
            annotations: [Self.flag(Vocabulary.supportsRepeatability, !options.isReadOnly)])
        let model = try EntityDataModel(schemas: [
            ODataSchema(
                namespace: namespace, structuredTypes: drafts.map { $0.structuredType(namespace: namespace) },
                operations: operations, container: container)
        ])
        var tables: [TableStorage] = []
        var functions: [String: ForeignModel.ViewFunction] = [:]
        for draft in drafts {
            guard let shape = model.shape(QualifiedName(namespace, draft.type)) else { continue }
            let columns = draft.members.map(\.storage)
            if draft.role == .function {
                guard let operation = functionNames[draft.set] else { continue }
                functions[draft.set] = .init(
                    name: draft.set, operation: operation, view: draft.table.name, shape: shape, columns: columns)
                continue
            }
            var storage = TableStorage(
                set: draft.set, shape: shape, table: draft.table.name, rowID: draft.table.rowIDColumn,
                properties: columns.map { .column($0) }, navigation: draft.navigationStorage,
                etag: draft.table.isView ? .none : .contentDigest,
                isReadOnly: options.isReadOnly || draft.table.isView)
            storage.storesNaN = false
            tables.append(storage)
        }
        return (model, StorageMapping(model: model, tables: tables), functions, warnings)
    }

    /// Returns the restrictions of a set (Capabilities vocabulary) that apply to all callers. The server adds
    /// its own capabilities.
    private func capabilities(of draft: ForeignTableDraft) -> [Annotation] {
        func restriction(_ term: String, _ property: String, value: Bool) -> Annotation {
            Annotation(
                term: Vocabulary.capabilities + term,
                value: .record(
                    type: nil,
                    properties: [.init(name: property, value: .constant(kind: "Bool", text: value ? "true" : "false"))])
            )
        }
        guard options.isReadOnly || draft.table.isView else { return [] }
        return [
            restriction("InsertRestrictions", "Insertable", value: false),
            restriction("UpdateRestrictions", "Updatable", value: false),
            restriction("DeleteRestrictions", "Deletable", value: false),
        ]
    }
}
