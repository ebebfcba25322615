import Foundation
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ODataStore
import ServerState

/// The mirror of users, registrations and settings on a node: a database in memory with the whole query language.
///
/// It follows the change numbers of each application, and is loaded anew in a new incarnation, since numbers may have
/// been given again (`design-review.md` 8).
actor OperatorReadModel {
    /// The time for which the mirror is taken as current without asking the state.
    private static let pause = Duration.milliseconds(50)

    private let shapes: OperatorModel
    private let state: any ServerState
    private var store: StoreService?
    private var incarnation: Incarnation?
    private var heads: [String: ChangeNumber] = [:]
    /// The users by number with their names, for the names in registrations.
    private var users: [RecordNumber: UserRecord] = [:]
    private var refreshedAt: ContinuousClock.Instant?
    private var running: Task<StoreService, any Error>?

    init(shapes: OperatorModel, state: any ServerState) {
        self.shapes = shapes
        self.state = state
    }

    /// Returns the mirror, which has every change up to this call.
    func current(afterChange: Bool = false) async throws -> StoreService {
        if !afterChange, let store, let refreshedAt, ContinuousClock.now - refreshedAt < Self.pause { return store }
        // A refresh that runs began before this call, and may have missed the latest change.
        if let running { _ = try? await running.value }
        if let running { return try await running.value }
        let task = Task { try await refresh() }
        running = task
        defer { running = nil }
        return try await task.value
    }

    private func refresh() async throws -> StoreService {
        let now = try await state.incarnation()
        let store = try await opened(reloading: now != incarnation)
        incarnation = now
        let applications = try await state.applications.all()
        let gone = Set(heads.keys).subtracting(applications.map(\.name))
        for name in gone { try await forget(name, in: store) }
        for application in applications {
            let head = try await state.head(of: application.name)
            let known = heads[application.name]
            guard head != known else { continue }
            try await follow(application, after: known, in: store)
            heads[application.name] = head
        }
        refreshedAt = .now
        return store
    }

    private func opened(reloading: Bool) async throws -> StoreService {
        if let store, !reloading { return store }
        heads = [:]
        users = [:]
        if let store {
            try await store.removeAll()
            return store
        }
        var definition = ServiceDefinition(model: shapes.model)
        definition.authorization = { principal, set in
            guard let principal else { return .none }
            if principal == Self.writer { return .full }
            guard let application = principal.claims["application"] else { return .readOnly }
            return Access(
                [.read], rowFilter: AccessFilter("Application eq @application", values: ["application": application]))
        }
        let new = try await StoreService.open(definition, at: .memory)
        store = new
        return new
    }

    /// The principal of the mirror's own changes. No operator has an empty name.
    private static let writer = Principal(name: "")

    private func forget(_ application: String, in store: StoreService) async throws {
        heads[application] = nil
        for set in ["Settings", "Registrations", "Users"] {
            let rows = try await rows(of: set, application, in: store)
            for row in rows { try await remove(row, from: set, in: store) }
        }
    }

    private func rows(of set: String, _ application: String, in store: StoreService) async throws -> [ODataEntity] {
        var url = try ODataURL(parsing: set)
        url.options.filter = try CommonExpression(
            parsing: "Application eq '\(application.replacingOccurrences(of: "'", with: "''"))'")
        var rows: [ODataEntity] = []
        var request = ODataRequest(.read, url)
        while true {
            request.context.principal = Self.writer
            guard case .page(let page) = try await store.execute(request).body else { return rows }
            rows += page.entities
            guard let link = page.nextLink else { return rows }
            request = ODataRequest(following: link)
        }
    }

    // MARK: Changes

    private func follow(
        _ application: ApplicationRecord, after change: ChangeNumber?, in store: StoreService
    ) async throws {
        var after = change
        if let change {
            if let removed = try await state.removedRows(of: application.name, after: change) {
                for row in removed { try await remove(row, of: application.name, in: store) }
            } else {
                try await forget(application.name, in: store)
                after = nil
            }
        }
        try await followUsers(application, after: after, in: store)
        var filter = RegistrationFilter(application: application.id, changedAfter: after)
        while true {
            let page = try await state.registrations.registrations(filter)
            for record in page { try await put(record, application, in: store) }
            guard page.count == filter.limit, let last = page.last else { return }
            filter.after = last.id
        }
    }

    private func followUsers(
        _ application: ApplicationRecord, after change: ChangeNumber?, in store: StoreService
    ) async throws {
        var last: RecordNumber = 0
        while true {
            let page = try await state.registrations.users(
                of: application.id, after: last, changedAfter: change)
            for user in page {
                try await put(shapes.user(user, application: application.name), in: "Users", store)
                users[user.id] = user
            }
            guard page.count >= 1000, let end = page.last else { return }
            last = end.id
        }
    }

    private func put(
        _ record: RegistrationRecord, _ application: ApplicationRecord, in store: StoreService
    ) async throws {
        let entity = shapes.registration(record, application: application.name, user: users[record.user]?.name)
        try await put(entity, in: "Registrations", store)
        let settings = try await state.registrations.settings(of: record.id, of: application.id)
        let known = try await self.settings(of: record.id, application.name, in: store)
        let names = Set(settings.map(\.name))
        for old in known {
            if case .string(let name)? = old["Name"], !names.contains(name) {
                try await remove(old, from: "Settings", in: store)
            }
        }
        for setting in settings {
            try await put(
                shapes.setting(setting, of: record.id, application: application.name), in: "Settings", store)
        }
    }

    private func settings(
        of registration: String, _ application: String, in store: StoreService
    ) async throws -> [ODataEntity] {
        func quoted(_ text: String) -> String { "'\(text.replacingOccurrences(of: "'", with: "''"))'" }
        var url = try ODataURL(parsing: "Settings")
        url.options.filter = try CommonExpression(
            parsing: "Application eq \(quoted(application)) and Registration eq \(quoted(registration))")
        var request = ODataRequest(.read, url, preferences: Preferences(maxPageSize: 1000))
        request.context.principal = Self.writer
        guard case .page(let page) = try await store.execute(request).body else { return [] }
        return page.entities
    }

    // MARK: Rows

    private func put(_ entity: ODataEntity, in set: String, _ store: StoreService) async throws {
        var entity = entity
        // All values are written.
        for property in entity.shape.properties { entity[property.name] = entity[property.name] ?? .null }
        var request = ODataRequest(.replace, try url(of: entity, in: set), body: .entity(entity))
        request.preferences.returns = .minimal
        request.context.principal = Self.writer
        _ = try await store.execute(request)
    }

    private func remove(_ entity: ODataEntity, from set: String, in store: StoreService) async throws {
        var request = ODataRequest(.delete, try url(of: entity, in: set))
        request.context.principal = Self.writer
        do {
            _ = try await store.execute(request)
        } catch let error as ODataError where error.status == 404 {
            // The row was never mirrored.
        }
    }

    private func url(of entity: ODataEntity, in set: String) throws -> ODataURL {
        guard let key = entity.key else { throw ODataError.notFound(set) }
        return try ODataURL(
            parsing: EntityID.canonical(set: set, key: key, shape: entity.shape, model: shapes.model))
    }

    /// Removes a row with the rows that depend on it, which have no entries of their own (`design-review.md` 28).
    private func remove(_ row: RemovedRow, of application: String, in store: StoreService) async throws {
        switch row.table {
        case "registration":
            for setting in try await settings(of: row.key, application, in: store) {
                try await remove(setting, from: "Settings", in: store)
            }
            let entity = shapes.entity(
                "Registrations", ["Application": .string(application), "ID": .string(row.key)])
            try await remove(entity, from: "Registrations", in: store)
        case "app_user":
            guard let id = RecordNumber(row.key) else { return }
            users[id] = nil
            for registration in try await rows(of: "Registrations", application, in: store)
            where registration["UserID"] == .integer(id) {
                if case .string(let name)? = registration["ID"] {
                    for setting in try await settings(of: name, application, in: store) {
                        try await remove(setting, from: "Settings", in: store)
                    }
                }
                try await remove(registration, from: "Registrations", in: store)
            }
            try await remove(shapes.entity("Users", ["ID": .integer(id)]), from: "Users", in: store)
        default: return
        }
    }
}
