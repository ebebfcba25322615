import GRDB
import ODataModel
import ODataService

/// The hook that checks the access of the caller to each changed row, before and after the change.
package struct AccessHook: WriteHook {
    private let control: AccessControl
    private let now: @Sendable () -> ODataDateTimeOffset

    package init(_ control: AccessControl, now: @escaping @Sendable () -> ODataDateTimeOffset) {
        self.control = control
        self.now = now
    }

    package func prepareInsert(_ entity: inout ODataEntity, into table: TableStorage, in database: Database) throws {}

    package func prepareInsert(
        _ entity: inout ODataEntity, into table: TableStorage, request: ODataRequest, in database: Database
    ) throws {
        try control.check(.create, table.set, for: request.context.principal, changing: entity)
    }

    package func prepareChange(
        of row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {
        try control.checkVisible(
            AccessControl.CheckedRow(row), table, for: request.context.principal, now: now(), in: database,
            hidden: .missing(row.id, request))
    }

    package func prepareUpdate(
        _ patch: inout ODataEntity, of before: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest,
        database: Database
    ) throws {
        try control.check(.update, table.set, for: request.context.principal, changing: patch)
        try permit(.update, before, of: table, by: request, in: database)
    }

    package func prepareDelete(
        _ row: RowWriter.WrittenRow, in table: TableStorage, request: ODataRequest, database: Database
    ) throws {
        try control.check(.delete, table.set, for: request.context.principal, changing: nil)
        try permit(.delete, row, of: table, by: request, in: database)
    }

    package func prepareReference(
        to row: RowWriter.WrittenRow, by navigation: String, request: ODataRequest, in database: Database
    ) throws {
        guard let table = control.mapping.tables[row.set] else { return }
        try control.checkVisible(
            AccessControl.CheckedRow(row), table, for: request.context.principal, now: now(), in: database,
            hidden: .missingReference(row.id, by: navigation))
    }

    package func didWrite(_ change: RowChange, in database: Database) throws {
        try control.checkWritten(change, now: now(), in: database)
    }

    package func didLink(_ change: LinkChange, in database: Database) throws {
        let principal = change.request.context.principal
        // The creator of an entity also decides on its relations.
        if !change.source.isNew {
            try control.check(.update, change.source.set, for: principal, changing: nil)
            if let table = control.mapping.tables[change.source.set] {
                try permit(.update, change.source, of: table, by: change.request, in: database)
            }
        }
        guard let table = control.mapping.tables[change.target.set] else { return }
        // An entity that the caller does not see is treated as missing. Relations to such entities stay when all
        // relations are replaced.
        let hidden =
            switch (change.isAdded, change.request.method) {
            case (true, _): ODataError.missingReference(change.target.id, by: change.navigation)
            case (false, .delete): ODataError.notFound(change.target.id)
            case (false, _): Access.refusal(principal, change.source.set)
            }
        try control.checkVisible(
            AccessControl.CheckedRow(change.target), table, for: principal, now: now(), in: database, hidden: hidden)
    }

    private func permit(
        _ kind: Access.Kind, _ row: RowWriter.WrittenRow, of table: TableStorage, by request: ODataRequest,
        in database: Database
    ) throws {
        try control.checkPermitted(
            kind, AccessControl.CheckedRow(row), of: table, for: request.context.principal, now: now(), in: database)
    }
}
