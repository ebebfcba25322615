import GRDB
import ODataModel
import ODataSQL
import ODataService

/// The hook in each change of a service's rows. The hook sets keys, values and ETags, calls the interceptors,
/// and checks the access of the caller.
struct ServiceHook: WriteHook {
    let core: ServiceCore
    /// Whether the code of the service makes the change.
    var isTrusted = false
    /// Whether values that the service would set may be given.
    var isSeeding = false

    func prepareInsert(_ entity: inout ODataEntity, into table: TableStorage, in database: Database) throws {}

    func prepareInsert(
        _ entity: inout ODataEntity, into table: TableStorage, request: ODataRequest, in database: Database
    ) throws {
        try check(.create, table.set, request: request, changing: entity)
        let context = ValueRule.Context(
            entity: entity, before: nil, request: request, now: core.options.now(), stream: nil)
        try giveValues(to: &entity, context) { $0 == .insert || $0 == .change }
        if case .counter(let property)? = core.etags[table.set], let ordinal = entity.shape.ordinal(of: property),
            entity.values[ordinal]?.isNull ?? true
        {
            entity.values[ordinal] = .integer(1)
        }
        try giveKey(to: &entity, table, in: database)
        try intercept(
            .insert, isBefore: true, entity: &entity, before: nil, table: table, request: request, in: database)
    }

    func prepareChange(
        of row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {
        try checkVisible(row, table, request: request, in: database, hidden: .missing(row.id, request))
    }

    func prepareUpdate(
        _ patch: inout ODataEntity, of before: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest,
        database: Database
    ) throws {
        try check(.update, table.set, request: request, changing: patch)
        try checkPermitted(.update, before, of: table, request: request, in: database)
        let context = ValueRule.Context(
            entity: patch, before: before.entity, request: request, now: core.options.now(), stream: nil)
        try giveValues(to: &patch, context) { $0 == .change }
        if request.method == .replace { try giveInitialValues(to: &patch, context) }
        if case .counter(let property)? = core.etags[table.set], let ordinal = patch.shape.ordinal(of: property) {
            patch.values[ordinal] = Self.next(before.entity[property])
        }
        try intercept(
            .update, isBefore: true, entity: &patch, before: before.entity, table: table, request: request, in: database
        )
    }

    func prepareDelete(
        _ row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {
        try check(.delete, table.set, request: request, changing: nil)
        try checkPermitted(.delete, row, of: table, request: request, in: database)
        var entity = row.entity
        try intercept(
            .delete, isBefore: true, entity: &entity, before: row.entity, table: table, request: request, in: database)
    }

    func prepareReference(
        to row: RowWriter.WrittenRow, by navigation: String, request: ODataRequest, in database: Database
    ) throws {
        guard let table = core.mapping.tables[row.set] else { return }
        try checkVisible(row, table, request: request, in: database, hidden: .missingReference(row.id, by: navigation))
    }

    func didWrite(_ change: RowChange, in database: Database) throws {
        if change.kind != .delete, let rowID = change.rowID, let after = change.after {
            try version(rowID, after, change: change, in: database)
            if !isTrusted { try core.access?.checkWritten(change, now: core.options.now(), in: database) }
        }
        guard var entity = change.after ?? change.before else { return }
        try intercept(
            change.kind, isBefore: false, entity: &entity, before: change.before, table: change.table,
            request: change.request, in: database)
    }

    func didLink(_ change: LinkChange, in database: Database) throws {
        guard !isTrusted, core.access != nil else { return }
        let (source, target) = (change.source, change.target)
        // The creator of an entity also decides on its relations.
        if !source.isNew {
            try check(.update, source.set, request: change.request, changing: nil)
            if let table = core.mapping.tables[source.set] {
                try checkPermitted(.update, source, of: table, request: change.request, in: database)
            }
        }
        guard let table = core.mapping.tables[target.set] else { return }
        // An entity that the caller does not see is treated as missing. Relations to such entities stay when all
        // relations are replaced.
        let hidden =
            switch (change.isAdded, change.request.method) {
            case (true, _):
                ODataError(
                    status: 400, code: "InvalidReference", message: "\(target.id) does not exist in \(target.set).",
                    target: change.navigation)
            case (false, .delete): ODataError.notFound(target.id)
            case (false, _): Access.refusal(change.request.context.principal, source.set)
            }
        try checkVisible(target, table, request: change.request, in: database, hidden: hidden)
    }

    // MARK: Values

    private func giveValues(
        to entity: inout ODataEntity, _ context: ValueRule.Context, _ isNow: (ValueRule.Moment) -> Bool
    ) throws {
        for rule in core.definition.values
        where isNow(rule.moment) && rule.applies(to: entity.shape, in: core.mapping.model) {
            guard let ordinal = entity.shape.ordinal(of: rule.property) else { continue }
            if entity.values[ordinal] != nil, !rule.overrides || isSeeding { continue }
            if let value = try rule.value(context) { entity.values[ordinal] = value }
        }
    }

    /// Sets initial values for required properties that a replacement omits, as for a new entity.
    private func giveInitialValues(to patch: inout ODataEntity, _ context: ValueRule.Context) throws {
        for rule in core.definition.values
        where rule.moment == .insert && !rule.overrides && rule.applies(to: patch.shape, in: core.mapping.model) {
            guard let ordinal = patch.shape.ordinal(of: rule.property), patch.values[ordinal]?.isNull == true,
                !patch.shape.properties[ordinal].isNullable
            else { continue }
            if let value = try rule.value(context) { patch.values[ordinal] = value }
        }
    }

    private static func next(_ value: ODataValue?) -> ODataValue {
        guard case .integer(let number)? = value else { return .integer(1) }
        // The count restarts after the greatest number; no client still uses so old an ETag.
        return .integer(number >= Int64(Int32.max) ? 1 : number + 1)
    }

    /// Sets a missing key: a Guid or the next number. Key parts that refer to another entity must be given by
    /// the client.
    private func giveKey(to entity: inout ODataEntity, _ table: TableStorage, in database: Database) throws {
        let foreign = Set(entity.shape.navigationProperties.flatMap { $0.constraints.map(\.property) })
        for key in entity.shape.key {
            guard let ordinal = entity.shape.ordinal(of: key.path), entity.values[ordinal]?.isNull ?? true,
                !foreign.contains(key.path)
            else { continue }
            let property = entity.shape.properties[ordinal]
            guard entity.shape.key.count == 1 || property.isComputed || property.hasComputedDefault else { continue }
            switch property.type.primitive {
            case .guid?: entity.values[ordinal] = .guid(.random())
            case .string? where property.isComputed || property.hasComputedDefault:
                entity.values[ordinal] = .string(ODataGuid.random().description)
            case let type? where type.integerRange != nil:
                guard let column = table.column(at: key.path), column.codec == .integer else { continue }
                // Numbers of deleted entities are not used again.
                let greatest = try Int64.fetchOne(
                    database,
                    sql: """
                        SELECT max(coalesce((SELECT max(\(column.name.sqlIdentifier)) FROM \(table.table.sqlIdentifier)), 0), \
                        coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0))
                        """, arguments: [table.table])
                let next = (greatest ?? 0).addingReportingOverflow(1)
                guard !next.overflow, type.integerRange?.contains(next.partialValue) == true else { continue }
                entity.values[ordinal] = .integer(next.partialValue)
            default: continue
            }
        }
    }

    // MARK: Versions

    /// Sets the ETag of a row. A change of only links or streams counts as a change of the row.
    private func version(_ rowID: Int64, _ after: ODataEntity, change: RowChange, in database: Database) throws {
        let (before, table) = (change.before, change.table)
        var text: String
        switch core.etags[table.set] ?? .none {
        case .none: return
        case .counter(let property):
            var value = after[property]
            if let before, before[property] == value, let column = table.column(at: property) {
                value = Self.next(value)
                try database.cachedStatement(
                    sql:
                        "UPDATE \(table.table.sqlIdentifier) SET \(column.name.sqlIdentifier) = ? WHERE \(OfflineLayout.rowIDColumn.sqlIdentifier) = ?"
                ).execute(arguments: [value.flatMap { try? column.codec.encode($0) } ?? .null, rowID])
            }
            text = value?.lexicalText ?? "0"
        case .values(let paths):
            var hash = QueryHash()
            for path in paths { hash.add(StoredJSON.encode(Self.value(path, in: after)) ?? "") }
            text = hash.text
        case .sequence:
            if let before, before.isIdentical(to: after) {
                // A new ETag without a change would cause the next change of a client to be refused.
                guard !change.givesValuesAlone else { return }
                try ChangeLog.note(rowID, of: table, in: database)
            }
            let number = try Int64.fetchOne(
                database.cachedStatement(
                    sql: "UPDATE \(ServiceSchema.metaTable) SET value = value + 1 WHERE name = 'etag' RETURNING value"))
            text = "\(number ?? 0)"
        }
        text = "W/\"\(text)\""
        try database.cachedStatement(
            sql: """
                UPDATE \(table.table.sqlIdentifier) SET \(OfflineLayout.etagColumn.sqlIdentifier) = ? \
                WHERE \(OfflineLayout.rowIDColumn.sqlIdentifier) = ?
                """
        ).execute(arguments: [text, rowID])
    }

    private static func value(_ path: String, in entity: ODataEntity) -> ODataValue {
        var current = ODataValue.complex(entity)
        for name in path.split(separator: "/") {
            guard case .complex(let holder) = current else { return .null }
            current = holder[String(name)] ?? .null
        }
        return current
    }

    // MARK: Interceptors

    private func intercept(
        _ kind: RowChange.Kind, isBefore: Bool, entity: inout ODataEntity, before: ODataEntity?, table: TableStorage,
        request: ODataRequest, in database: Database
    ) throws {
        guard !isSeeding else { return }
        for interceptor in core.definition.interceptors
        where interceptor.kind == kind && interceptor.isBefore == isBefore
            && (interceptor.set == nil || interceptor.set == table.set)
        {
            let context = ChangeContext(
                kind: kind, set: table.set, before: before, request: request,
                transaction: ServiceTransaction(core: core, database: database, request: request))
            try interceptor.body(&entity, context)
        }
    }

    // MARK: Authorization

    private func check(_ kind: Access.Kind, _ set: String, request: ODataRequest, changing entity: ODataEntity?) throws
    {
        if !isTrusted { try core.access?.check(kind, set, for: request.context.principal, changing: entity) }
    }

    private func checkVisible(
        _ row: RowWriter.WrittenRow, _ table: TableStorage, request: ODataRequest, in database: Database,
        hidden: @autoclosure () -> ODataError
    ) throws {
        guard !isTrusted else { return }
        try core.access?.checkVisible(
            AccessControl.CheckedRow(row), table, for: request.context.principal, now: core.options.now(), in: database,
            hidden: hidden())
    }

    private func checkPermitted(
        _ kind: Access.Kind, _ row: RowWriter.WrittenRow, of table: TableStorage, request: ODataRequest,
        in database: Database
    ) throws {
        guard !isTrusted else { return }
        try core.access?.checkPermitted(
            kind, AccessControl.CheckedRow(row), of: table, for: request.context.principal, now: core.options.now(),
            in: database)
    }
}

extension RowChange {
    /// Whether the request gave only property values, and neither links nor a stream.
    fileprivate var givesValuesAlone: Bool {
        if case .media = request.body { return false }
        return !changedProperties.isEmpty && changedProperties.allSatisfy { after?.shape.navigationProperty($0) == nil }
    }
}
