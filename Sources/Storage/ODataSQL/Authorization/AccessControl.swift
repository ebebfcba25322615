import GRDB
import ODataModel
import ODataQuery
import ODataService
import Synchronization

/// The access of callers to the tables of a mapping: the filters of readers and the checks of changes.
package final class AccessControl: Sendable {
    package let rule: Access.Rule
    package let mapping: StorageMapping
    private let binder: Binder
    private let filters = Mutex<[Key: RowFilter]>([:])

    /// The filter of a set, whose bytes and values are compared.
    private struct Key: Hashable {
        var set: String
        var text: ExactText
        var values: [String: ExactText]
    }

    /// The maximum number of bound filters. Filters that contain the name of the caller can be unlimited in number.
    private static let filterLimit = 1000

    package init(_ rule: @escaping Access.Rule, mapping: StorageMapping, binder: Binder) {
        self.rule = rule
        self.mapping = mapping
        self.binder = binder
    }

    /// Returns the access of a caller to a set.
    package func access(_ principal: Principal?, _ set: String) throws -> Access {
        // The access to contained entities is that to the set of their parent.
        try rule(principal, set.split(separator: "/").first.map(String.init) ?? set)
    }

    /// Throws 401 or 403 if a caller has no access of a kind to a set or operation.
    package func require(_ kind: Access.Kind, _ set: String, for principal: Principal?) throws {
        guard try access(principal, set).allows(kind) else { throw Access.refusal(principal, set) }
    }

    // MARK: Rows

    /// Returns the filter on the rows that a caller sees; `nil` for all rows.
    package func rowFilter(_ principal: Principal?, _ set: String) throws -> RowFilter? {
        guard !set.contains("/") else { return nil }
        let access = try access(principal, set)
        guard access.allows(.read) else { return .nothing }
        return try access.rowFilter.flatMap { try bound($0, set) }
    }

    /// Returns the filter on the rows that a caller may change in a way; `nil` for all rows.
    private func changeFilter(_ principal: Principal?, _ set: String, of kind: Access.Kind) throws -> RowFilter? {
        guard !set.contains("/") else { return nil }
        return try access(principal, set).changeFilters[kind].flatMap { try bound($0, set) }
    }

    private func bound(_ filter: AccessFilter, _ set: String) throws -> RowFilter? {
        guard let shape = mapping.tables[set]?.shape else { return .nothing }
        let key = Key(set: set, text: ExactText(filter.text), values: filter.values.mapValues { ExactText($0) })
        if let known = filters.withLock({ $0[key] }) { return known }
        let bound = try RowFilter(filter, shape: shape, set: mapping.model.entitySet(set), binder: binder)
        filters.withLock { known in
            if known.count >= Self.filterLimit { known.removeAll() }
            known[key] = bound
        }
        return bound
    }

    // MARK: Readers

    /// Returns a reader with the access of a caller.
    package func reader(_ base: StoreReader, for principal: Principal?) -> StoreReader {
        var configuration = base.configuration
        configuration.rowFilter = { [self] set in try rowFilter(principal, set) }
        return StoreReader(mapping: mapping, configuration: configuration, snapshots: base.snapshots, for: principal)
    }

    /// Returns the restriction of a caller's requests.
    package func restriction(for principal: Principal?) -> AccessRestriction {
        AccessRestriction(control: self, principal: principal)
    }

    /// Returns whether a caller sees all rows of the sets, so that removed rows may be reported.
    package func seesAll(_ sets: Set<String>, _ principal: Principal?) throws -> Bool {
        try sets.allSatisfy { try rowFilter(principal, $0) == nil }
    }

    // MARK: Changes

    /// Checks that a caller may address the resource of a change and, in a change of members, use the properties in
    /// the query options.
    package func checkPath(of bound: BoundURL, _ request: ODataRequest) throws {
        var path = bound
        let asksOfMembers = path.resource.steps.last == .each && request.url.options.shapesResponse
        if !asksOfMembers { path.query = nil }
        var createsMember = false
        if request.method == .create, case .entities = bound.resource.target { createsMember = true }
        _ = try restriction(for: request.context.principal).restrict(path, needsTarget: !createsMember)
    }

    /// Throws if a caller may not change entities of a set in a way, or may not give one of the properties in a body.
    package func check(
        _ kind: Access.Kind, _ set: String, for principal: Principal?, changing entity: ODataEntity?
    ) throws {
        let access = try access(principal, set)
        guard access.allows(kind) else { throw Access.refusal(principal, set) }
        guard let entity, !access.hiddenProperties.isEmpty else { return }
        // Properties in a request body have no change marks; keys and foreign keys that were set by code have them.
        // Both kinds count as given.
        var given = RowWriter.given(entity).union(entity.related.keys).union(entity.dynamicProperties.keys)
        for (property, value) in zip(entity.shape.properties, entity.values) where value != nil {
            given.insert(property.name)
        }
        guard let hidden = given.intersection(access.hiddenProperties).min() else { return }
        throw ODataError(
            status: 403, code: "Forbidden", message: "You do not have permission to change \(hidden).", target: hidden)
    }

    /// A row whose visibility or permission is checked.
    package struct CheckedRow {
        package var rowID: Int64?
        package var entity: ODataEntity

        package init(rowID: Int64?, entity: ODataEntity) {
            self.rowID = rowID
            self.entity = entity
        }

        package init(_ row: RowWriter.WrittenRow) { self.init(rowID: row.rowID, entity: row.entity) }
    }

    /// Throws an error if a caller does not see a row.
    package func checkVisible(
        _ row: CheckedRow, _ table: TableStorage, for principal: Principal?, now: ODataDateTimeOffset,
        in database: Database, hidden: @autoclosure () -> ODataError
    ) throws {
        guard let filter = try rowFilter(principal, table.set) else { return }
        if !(try filter.matches(row, of: table, mapping: mapping, now: now, in: database)) { throw hidden() }
    }

    /// Throws an error if the permission of a caller to change rows in a way does not include a row.
    package func checkPermitted(
        _ kind: Access.Kind, _ row: CheckedRow, of table: TableStorage, for principal: Principal?,
        now: ODataDateTimeOffset, in database: Database
    ) throws {
        guard let filter = try changeFilter(principal, table.set, of: kind) else { return }
        if !(try filter.matches(row, of: table, mapping: mapping, now: now, in: database)) {
            throw Access.refusal(principal, row.entity.control.id ?? table.set)
        }
    }

    /// Checks a row after a change: the caller must still see it, and its permission must include it.
    package func checkWritten(
        _ change: RowChange, now: ODataDateTimeOffset, in database: Database
    ) throws {
        guard change.kind != .delete, let after = change.after else { return }
        let principal = change.request.context.principal
        let row = CheckedRow(rowID: change.rowID, entity: after)
        let id = after.control.id ?? change.table.set
        // A caller that may create entities without reading any does not see its own ones.
        if try change.kind == .update || access(principal, change.table.set).allows(.read) {
            try checkVisible(
                row, change.table, for: principal, now: now, in: database,
                hidden: ODataError(
                    status: 403, code: "Forbidden", message: "The change would make \(id) invisible to you.",
                    target: id))
        }
        try checkPermitted(
            change.kind == .insert ? .create : .update, row, of: change.table, for: principal, now: now, in: database)
    }
}
