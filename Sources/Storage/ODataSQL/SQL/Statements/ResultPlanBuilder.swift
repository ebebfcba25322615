import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Selects the result columns of a statement and describes them in a ``ResultPlan``.
struct ResultPlanBuilder {
    let builder: StatementBuilder
    /// The type of the rows before the transformations.
    let declared: TypeShape
    var compiler: ExpressionCompiler { builder.compiler }
    var scope: SQLScope { builder.scope }

    func plan(_ query: BoundQuery, _ select: inout SelectList) throws -> ResultPlan {
        if !query.expandedStreams.isEmpty { throw ODataError.notImplemented("$expand of a stream") }
        guard let table = scope.table else { return try derivedPlan(query, &select) }
        var plan = ResultPlan(
            set: table.set, table: table.table, shape: query.apply.isEmpty ? query.shape : query.resultShape,
            fields: [], derivedFields: [:], discriminator: nil, notLoaded: nil, dynamic: nil, key: [],
            hasKeyInFields: false, etag: .none, rowID: nil, sort: [], expandSources: [])
        let bits = table.notLoaded == nil ? [:] : table.columnBits
        let shape = query.apply.isEmpty ? query.shape : table.shape
        // If rows differ, each variant has its own values.
        let names = builder.variants == nil ? builder.names : []
        let attached = builder.variants == nil ? try attachedFields(query, &select) : []
        switch query.projection {
        case .all:
            let added = Self.merged(nested(names, &select) + attached)
            let isOwn = { (field: ResultPlan.Field) in !names.contains(field.name) }
            plan.fields =
                try fields(shape, table.properties(of: shape), bits: bits, select: &select).filter(isOwn) + added
            for name in table.derivedTypes {
                guard let derived = compiler.mapping.model.shape(name) else { continue }
                plan.derivedFields[name.description] = (
                    derived,
                    try fields(derived, table.properties(of: derived), bits: bits, select: &select).filter(isOwn)
                        + added
                )
            }
            if let dynamic = table.dynamicProperties {
                plan.dynamic = (select.index(of: scope.sql(dynamic)), nil)
            }
        case .some(let ordinals, let wanted):
            try addSelected(
                ordinals, wanted, names: names, shape: shape, table: table, query: query, bits: bits, plan: &plan,
                select: &select)
            plan.fields = Self.merged(attached.isEmpty ? plan.fields : plan.fields + attached)
        }
        if let (column, kinds) = builder.variants {
            plan.variant = select.index(of: column)
            for kind in kinds {
                plan.variants.append((kind.isEntity, try fields(of: kind, query, &select)))
            }
        }
        if let discriminator = table.discriminator {
            plan.discriminator = select.index(of: scope.sql(discriminator))
        }
        if let notLoaded = table.notLoaded {
            plan.notLoaded = select.index(of: scope.sql(notLoaded))
        }
        try identify(&plan, table, query: query, select: &select)
        plan.direct = DirectColumn.columns(of: plan)
        return plan
    }

    /// Returns the properties of a variant in addition to those of an entity.
    private func fields(
        of kind: StatementBuilder.Variant, _ query: BoundQuery, _ select: inout SelectList
    ) throws -> [ResultPlan.Field] {
        let own = nested(selectedNames(kind.names, query), &select)
        return Self.merged(own + (try attachedFields(query, without: kind.lacking, &select)))
    }

    /// Adds the fields of `$select`: declared properties by ordinal, and computed, derived and dynamic properties
    /// by name.
    private func addSelected(
        _ ordinals: [Int], _ wanted: [String], names: [String], shape: TypeShape, table: TableStorage,
        query: BoundQuery, bits: [String: Int], plan: inout ResultPlan, select: inout SelectList
    ) throws {
        var remaining = wanted
        plan.fields.reserveCapacity(ordinals.count)
        for ordinal in ordinals {
            let result = query.resultShape
            guard result.properties.indices.contains(ordinal) else { continue }
            let property = result.properties[ordinal]
            guard !names.contains(property.name),
                let storage = table.storage(of: property, ordinal, shape: result, model: compiler.mapping.model)
            else {
                // A transformation has added the property or replaced it.
                remaining.append(property.name)
                continue
            }
            // Information about streams is added to the entity later, because no column contains their bytes.
            if property.type.primitive == .stream { continue }
            if case .absent = storage { throw ODataError.notImplemented("the property \(property.name)") }
            if result === shape, shape === table.shape, case .column(let column) = storage,
                query.nestedQueries[ordinal] == nil
            {
                // The common case, in which the ordinal alone determines the column.
                let bit = bits.isEmpty || ordinal >= table.propertyBits.count ? nil : table.propertyBits[ordinal]
                plan.fields.append(field(property, ordinal, column: column, bit: bit, scope: scope, select: &select))
                continue
            }
            let own = shape.ordinal(of: property.name) ?? ordinal
            if let nested = query.nestedQueries[ordinal] {
                plan.fields.append(try members(property, own, storage: storage, query: nested, select: &select))
                continue
            }
            try add(
                property, own, storage: storage, bits: bits, select: &select,
                projection: query.nestedProjections[ordinal], to: &plan.fields)
        }
        plan.fields += nested(
            names.filter { remaining.contains($0) || remaining.contains(String($0.prefix { $0 != "/" })) }, &select)
        for name in table.derivedTypes {
            guard let derived = compiler.mapping.model.shape(name) else { continue }
            var fields = plan.fields
            let storages = table.properties(of: derived)
            for (ordinal, property) in derived.properties.enumerated().dropFirst(table.shape.properties.count)
            where wanted.contains(property.name) && storages.indices.contains(ordinal) {
                try add(property, ordinal, storage: storages[ordinal], bits: bits, select: &select, to: &fields)
            }
            plan.derivedFields[name.description] = (derived, fields)
        }
        let dynamicNames = wanted.filter { !names.contains($0) && !$0.hasPrefix("@") }
        if let dynamic = table.dynamicProperties, !dynamicNames.isEmpty {
            plan.dynamic = (select.index(of: scope.sql(dynamic)), dynamicNames)
        }
    }

    /// Returns the members of a collection that match options nested in `$select` (OData URL Conventions 4.01,
    /// 5.1.4).
    private func members(
        _ property: Property, _ ordinal: Int, storage: PropertyStorage, query: BoundQuery,
        select: inout SelectList
    ) throws -> ResultPlan.Field {
        guard case .column(var column) = storage, column.codec == .json, query.apply.isEmpty, query.compute.isEmpty,
            query.search == nil, query.expand.isEmpty, !query.count, query.projection == .all
        else { throw ODataError.notImplemented("An option nested in $select of \(property.name)") }
        let alias = compiler.newAlias()
        let member = SQLScope(
            alias: alias, source: .json("\(column: "value", of: alias)", column.type.element),
            from: "json_each(\(scope.sql(column.name))) AS \(name: alias)")
        compiler.scopes[query.variable.identifier] = member
        defer { compiler.scopes[query.variable.identifier] = builder.scope }
        let filter = try query.filter.map { [try compiler.condition($0)] } ?? []
        let order = try query.orderBy.map { try builder.term($0).fragment } + ["\(column: "key", of: alias)"]
        let limit = (query.top ?? -1).databaseValue
        // The original text of the member, because a number that SQLite writes would lose digits.
        let text: SQLFragment = "\(column: "json", of: alias) -> \(column: "fullkey", of: alias)"
        let sql: SQLFragment = """
            CASE WHEN \(scope.sql(column.name)) IS NOT NULL THEN '[' || coalesce((SELECT group_concat("m", ',') FROM \
            (SELECT \(text) AS "m" FROM \(member.fromClause)\(ExpressionCompiler.whereClause(filter)) ORDER BY \
            \(list: order) LIMIT \(bind: limit) OFFSET \(bind: (query.skip ?? 0).databaseValue))), '') || ']' END
            """
        column.name = property.name
        return .value(
            name: property.name, ordinal: ordinal,
            ResultPlan.Slot(index: select.index(of: sql), storage: column, notLoadedBit: nil))
    }

    /// Returns the query with only its `$select`.
    private static func plain(_ query: BoundQuery) -> BoundQuery {
        var plain = BoundQuery(shape: query.shape, set: query.set, variable: query.variable)
        plain.projection = query.projection
        return plain
    }

    /// Returns the computed and aggregated names that `$select` includes.
    private func selectedNames(_ names: [String], _ query: BoundQuery) -> [String] {
        guard case .some(let ordinals, let others) = query.projection else { return names }
        let shape = query.resultShape
        let selected = Set(
            ordinals.filter(shape.properties.indices.contains).map { shape.properties[$0].name } + others)
        return names.filter { selected.contains($0) || selected.contains(String($0.prefix { $0 != "/" })) }
    }

    /// Returns the selected rows that transformations have named, and those of a `$crossjoin`.
    private func attachedFields(
        _ query: BoundQuery, without lacking: Set<String> = [], _ select: inout SelectList
    ) throws -> [ResultPlan.Field] {
        var wanted = scope.shownAttachments.filter { !lacking.contains($0.name) }
        if case .some(_, let names) = query.projection {
            wanted.removeAll { attachment in
                attachment.isInline && !names.contains(attachment.name)
                    && !query.expand.contains { $0.navigation.name == attachment.name }
            }
        }
        return try attachedFields(wanted, query.expand, select: &select)
    }

    private func attachedFields(
        _ attachments: [SQLScope.Attachment], _ expand: [BoundExpand], select: inout SelectList
    ) throws -> [ResultPlan.Field] {
        try attachments.map { attachment in
            let path = attachment.name.split(separator: "/").map(String.init)
            let field = try attachedField(
                attachment, named: path.last ?? attachment.name,
                item: expand.first { $0.navigation.name == attachment.name }, select: &select)
            return path.dropLast().reversed().reduce(field) { .nested(name: $1, [$0]) }
        }
    }

    private func attachedField(
        _ attachment: SQLScope.Attachment, named name: String, item: BoundExpand?, select: inout SelectList
    ) throws -> ResultPlan.Field {
        if !attachment.isInline, item == nil, let table = attachment.scope.table {
            let key = zip(table.shape.key, table.keyColumns).map { part, column in
                (
                    name: part.name,
                    slot: ResultPlan.Slot(
                        index: select.index(of: attachment.scope.sql(column.name)), storage: column,
                        notLoadedBit: nil)
                )
            }
            return .link(name: name, set: table.set, table.shape, key: key)
        }
        if let item, item.query != Self.plain(item.query) {
            throw ODataError.notImplemented("An option of $expand=\(attachment.name) here")
        }
        let presence = select.index(of: attachment.presence)
        let inner = attachment.scope
        var fields: [ResultPlan.Field] = []
        if let table = inner.table {
            var wanted: Set<Int>?
            if case .some(let ordinals, _)? = item?.query.projection { wanted = Set(ordinals) }
            for (ordinal, (property, storage)) in zip(table.shape.properties, table.properties).enumerated()
            where wanted?.contains(ordinal) != false {
                try add(property, ordinal, storage: storage, bits: [:], select: &select, in: inner, to: &fields)
            }
            if wanted == nil { fields += try fieldsOfSome(table, inner, select: &select) }
        }
        fields += nested(attachment.names, &select, in: inner)
        fields += try attachedFields(inner.shownAttachments, [], select: &select)
        let shape =
            inner.table?.shape
            ?? TypeShape(
                dynamic: QualifiedName("", attachment.name),
                properties: attachment.names.map {
                    Property(name: $0, type: inner.computed[$0]?.type ?? .untyped("Edm.Untyped"))
                })
        return .related(name: name, shape, presence: presence, Self.merged(fields))
    }

    /// Returns the fields that only some rows of a table have: properties of derived types and dynamic properties.
    private func fieldsOfSome(
        _ table: TableStorage, _ scope: SQLScope, select: inout SelectList
    ) throws -> [ResultPlan.Field] {
        var result: [ResultPlan.Field] = []
        if let discriminator = table.discriminator {
            for (name, storages) in table.derivedProperties.sorted(by: { $0.key.description < $1.key.description }) {
                guard let shape = compiler.mapping.model.shape(name) else { continue }
                var own: [ResultPlan.Field] = []
                let count = table.properties.count
                for (index, storage) in storages.enumerated() where count + index < shape.properties.count {
                    try add(
                        shape.properties[count + index], count + index, storage: storage, bits: [:], select: &select,
                        in: scope, to: &own)
                }
                result.append(.derived(shape, discriminator: select.index(of: scope.sql(discriminator)), own))
            }
        }
        if let dynamic = table.dynamicProperties { result.append(.dynamic(select.index(of: scope.sql(dynamic)))) }
        return result
    }

    /// Returns the fields with objects of the same name merged into one.
    private static func merged(_ fields: [ResultPlan.Field]) -> [ResultPlan.Field] {
        guard fields.contains(where: \.isObject) else { return fields }
        var result: [ResultPlan.Field] = []
        for field in fields {
            guard case .nested = field, let index = result.firstIndex(where: { $0.isObject && $0.name == field.name })
            else {
                if case .related(let name, let shape, let presence, let inner) = field,
                    let index = result.firstIndex(where: { $0.isObject && $0.name == name }),
                    case .nested(_, let known) = result[index]
                {
                    result[index] = .related(name: name, shape, presence: presence, merged(inner + known))
                } else {
                    result.append(field)
                }
                continue
            }
            guard case .nested(let name, let inner) = field else { continue }
            switch result[index] {
            case .nested(_, let known): result[index] = .nested(name: name, merged(known + inner))
            case .related(_, let shape, let presence, let known):
                result[index] = .related(name: name, shape, presence: presence, merged(known + inner))
            default: break
            }
        }
        return result
    }

    /// Adds the key, the row id, the ETag and the join columns of expanded rows.
    private func identify(
        _ plan: inout ResultPlan, _ table: TableStorage, query: BoundQuery, select: inout SelectList
    ) throws {
        let columns = table.keyColumns
        if columns.count == table.shape.key.count {
            for (part, column) in zip(table.shape.key, columns) {
                plan.key.append((part.name, slot(column, nil, select: &select)))
            }
        }
        plan.id =
            table.set.utf8.contains(UInt8(ascii: "/"))
            ? containedID(table, hasKey: !plan.key.isEmpty, &select) : id(table, plan.key)
        plan.hasKeyInFields =
            !plan.key.isEmpty
            && plan.key.allSatisfy { key in plan.fields.contains { $0.column == key.slot.index } }
        if let rowID = table.rowID { plan.rowID = select.index(of: scope.sql(rowID)) }
        switch table.etag {
        case .none: break
        case .column(let column): plan.etag = .column(select.index(of: scope.sql(column)))
        case .contentDigest: plan.etag = .column(select.index(of: Self.digest(table, scope)))
        }
        for item in builder.expanded(query) {
            try keepPlace(of: item, &plan, table: table, select: &select)
            let (storage, _) = try compiler.navigation(item.navigation, item.path, of: table)
            var sources: [Int]
            switch storage {
            case .join(_, let pairs):
                sources = pairs.map { select.index(of: .related(scope.sql($0.source), $0.comparison)) }
            case .link:
                let rowID = try compiler.requireRowID(table, item.navigation)
                sources = [select.index(of: scope.sql(rowID))]
            }
            // For options that refer to the row of the request, the row is found by its key.
            if item.refersToOutermost {
                let hidden = SQLScope.hiddenName(RangeVariable.outermost)
                let outermost = scope.attachment(hidden) ?? scope
                sources += (outermost.table?.keyColumns ?? []).map { select.index(of: outermost.sql($0.name)) }
            }
            plan.expandSources.append(sources)
        }
    }

    /// Returns the form of ids for a key.
    private func id(_ table: TableStorage, _ key: [(name: String, slot: ResultPlan.Slot)]) -> ResultPlan.ID {
        if compiler.mapping.model.singleton(table.set) != nil { return .singleton }
        guard let storage = key.first?.slot.storage else { return .none }
        if key.count == 1, storage.codec == .integer {
            if case .enumeration = storage.type { return .keyed }
            return .numbered(table.set + "(", column: key[0].slot.index)
        }
        return .keyed
    }

    /// Returns the form of ids for contained rows. The keys of their containers are found by row id.
    private func containedID(_ table: TableStorage, hasKey: Bool, _ select: inout SelectList) -> ResultPlan.ID {
        var segments = table.set.split(separator: "/").map(String.init)
        var containers: [ResultPlan.Container] = []
        let property = segments.last ?? table.set
        var hasKeyInID = true
        // Returns a column of the rows, and then of the container that was found last.
        var column: (String) -> SQLFragment = { scope.sql($0) }
        while let name = segments.popLast(), !segments.isEmpty {
            guard let outer = compiler.mapping.tables[segments.joined(separator: "/")],
                case .join(_, let pairs)? = outer.navigation[name], pairs.count == 1, let pair = pairs.first
            else { return .none }
            if outer.shape.navigationProperty(name)?.isCollection == false {
                if containers.isEmpty { hasKeyInID = false } else { containers[0].key = [] }
            }
            let link = column(pair.target)
            column = { name in
                """
                (SELECT \(column: name, of: "container") FROM \(name: outer.table) AS "container" \
                WHERE \(column: pair.source, of: "container") = \(link))
                """
            }
            let key = zip(outer.shape.key, outer.keyColumns).map { part, stored in
                (part.name, ResultPlan.Slot(index: select.index(of: column(stored.name)), storage: stored))
            }
            let segment = segments.count == 1 ? outer.set : segments[segments.count - 1]
            containers.insert(.init(segment: segment, shape: outer.shape, key: key), at: 0)
        }
        guard hasKey || !hasKeyInID else { return .none }
        return .contained(containers, property: property, hasKey: hasKeyInID)
    }

    /// Adds the object of a complex value for properties that are expanded within it, regardless of `$select`.
    private func keepPlace(
        of item: BoundExpand, _ plan: inout ResultPlan, table: TableStorage, select: inout SelectList
    ) throws {
        var isFirst = true
        for case .property(let property, let ordinal, let shape) in item.path {
            defer { isFirst = false }
            if property.type.isCollection { throw ODataError.notImplemented("$expand within \(property.name)") }
            // Deeper values are part of the first one.
            guard isFirst else { continue }
            guard let storage = table.storage(of: property, ordinal, shape: shape, model: compiler.mapping.model),
                case .complex = storage
            else { throw ODataError.notImplemented("$expand within \(property.name)") }
            guard !plan.fields.contains(where: { $0.name == property.name }) else { continue }
            var place: [ResultPlan.Field] = []
            try add(
                property, ordinal, storage: storage, bits: [:], select: &select,
                projection: .some(ordinals: [], names: []), to: &place)
            plan.fields += place
            plan.derivedFields = plan.derivedFields.mapValues { ($0.shape, $0.fields + place) }
        }
    }

    /// Returns the digest of a row as SQL. A function of SQLite has at most 100 arguments, so that wider rows are
    /// digested in parts.
    static func digest(_ table: TableStorage, _ scope: SQLScope) -> SQLFragment {
        let columns = table.digestColumns.map(scope.sql)
        let parts = stride(from: 0, to: columns.count, by: 90).map {
            "outpost_digest(\(list: Array(columns[$0..<min($0 + 90, columns.count)])))" as SQLFragment
        }
        return parts.count == 1 ? parts[0] : "outpost_digest(\(list: parts))"
    }

    // MARK: Fields

    private func fields(
        _ shape: TypeShape, _ storages: [PropertyStorage], bits: [String: Int], select: inout SelectList,
        projection: BoundProjection? = nil, in scope: SQLScope? = nil
    ) throws -> [ResultPlan.Field] {
        var wanted: Set<Int>?
        if case .some(let ordinals, _)? = projection { wanted = Set(ordinals) }
        var result: [ResultPlan.Field] = []
        result.reserveCapacity(wanted?.count ?? storages.count)
        for (ordinal, (property, storage)) in zip(shape.properties, storages).enumerated()
        where wanted?.contains(ordinal) != false {
            try add(property, ordinal, storage: storage, bits: bits, select: &select, in: scope, to: &result)
        }
        return result
    }

    /// Adds the field of a property, unless the layout does not support its type.
    private func add(
        _ property: Property, _ ordinal: Int, storage: PropertyStorage, bits: [String: Int],
        select: inout SelectList, projection: BoundProjection? = nil, in other: SQLScope? = nil,
        to result: inout [ResultPlan.Field]
    ) throws {
        let scope = other ?? self.scope
        switch storage {
        case .column(let column):
            result.append(
                field(property, ordinal, column: column, bit: bits[column.name], scope: scope, select: &select))
        case .complex(let shape, let nested, let presence):
            let index = select.index(of: scope.sql(presence))
            result.append(
                .complex(
                    name: property.name, ordinal: ordinal, shape, presence: index,
                    try fields(shape, nested, bits: bits, select: &select, projection: projection, in: scope)))
        case .absent: break
        }
    }

    private func field(
        _ property: Property, _ ordinal: Int, column: ColumnStorage, bit: Int?, scope: SQLScope,
        select: inout SelectList
    ) -> ResultPlan.Field {
        let index = select.index(of: scope.sql(column.name))
        return .value(
            name: property.name, ordinal: ordinal, ResultPlan.Slot(index: index, storage: column, notLoadedBit: bit))
    }

    private func slot(_ column: ColumnStorage, _ bit: Int?, select: inout SelectList) -> ResultPlan.Slot {
        ResultPlan.Slot(index: select.index(of: scope.sql(column.name)), storage: column, notLoadedBit: bit)
    }

    private func nested(
        _ names: [String], _ select: inout SelectList, in scope: SQLScope? = nil
    ) -> [ResultPlan.Field] {
        nest(names.map { ($0.split(separator: "/").map(String.init), $0) }, scope ?? self.scope, select: &select)
    }

    /// Returns whether the metadata declare the type of the property at the end of a name or path.
    private func isDeclared(_ name: String) -> Bool {
        var shape: TypeShape? = declared
        for part in name.split(separator: "/") {
            guard let current = shape else { return false }
            if let property = current.properties.first(where: { $0.name == part }) {
                guard case .complex(let type?) = property.type else { return true }
                shape = compiler.mapping.model.shape(type)
            } else if let navigation = current.navigationProperties.first(where: { $0.name == part }) {
                shape = compiler.mapping.model.shape(navigation.target)
            } else {
                return false
            }
        }
        return true
    }

    private func computedSlot(_ name: String, _ operand: Operand, select: inout SelectList) -> ResultPlan.Slot {
        ResultPlan.Slot(
            index: select.index(of: operand.dynamic?.json ?? operand.sql),
            storage: ColumnStorage(name: name, type: operand.type, codec: operand.codec), notLoadedBit: nil,
            isDynamic: !isDeclared(name))
    }

    // MARK: Aggregated rows

    private func derivedPlan(_ query: BoundQuery, _ select: inout SelectList) throws -> ResultPlan {
        for item in query.expand where scope.attachment(item.navigation.name) == nil {
            throw ODataError.notImplemented("$expand after aggregation")
        }
        var plan = ResultPlan(
            set: nil, table: "", shape: query.resultShape, fields: [], derivedFields: [:], discriminator: nil,
            notLoaded: nil, dynamic: nil, key: [], hasKeyInFields: false, etag: .none, rowID: nil, sort: [],
            expandSources: [])
        guard let (column, kinds) = builder.variants else {
            let attached = try attachedFields(query, &select)
            plan.fields = Self.merged(nested(selectedNames(builder.names, query), &select) + attached)
            return plan
        }
        plan.variant = select.index(of: column)
        for kind in kinds { plan.variants.append((false, try fields(of: kind, query, &select))) }
        return plan
    }

    /// Returns values with paths as names, as nested objects.
    private func nest(
        _ paths: [(path: [String], name: String)], _ scope: SQLScope, select: inout SelectList
    ) -> [ResultPlan.Field] {
        var result: [ResultPlan.Field] = []
        var seen: Set<String> = []
        for (path, name) in paths {
            guard let first = path.first, seen.insert(first).inserted else { continue }
            if path.count == 1 {
                guard let operand = scope.computed[name] else { continue }
                result.append(.value(name: first, ordinal: nil, computedSlot(name, operand, select: &select)))
            } else {
                let inner = paths.filter { $0.path.count > 1 && $0.path[0] == first }
                result.append(
                    .nested(
                        name: first, nest(inner.map { (Array($0.path.dropFirst()), $0.name) }, scope, select: &select)))
            }
        }
        return result
    }
}

extension ResultPlan.Field {
    /// Whether the field is an object with further fields.
    fileprivate var isObject: Bool {
        switch self {
        case .nested, .related: true
        default: false
        }
    }

    /// The column of a plain value.
    var column: Int? {
        if case .value(_, _, let slot) = self { slot.index } else { nil }
    }
}
