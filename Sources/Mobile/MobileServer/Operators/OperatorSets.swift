import ODataModel
import ODataService
import ServerState

/// The sets that are read from the state for each request, since they are small or not mirrored.
struct OperatorSets: Sendable {
    /// The maximum number of audit entries that a query sees, newest first.
    static let maxAuditEntries = 10_000
    /// The beginning of the names of sign-in links among the secrets, which are not listed.
    static let linkPrefix = "link/"

    let shapes: OperatorModel
    let services: NodeServices

    private var state: any ServerState { services.state }

    /// Returns the entities of a set; `nil` if the set is mirrored.
    func entities(of set: String) async throws(ServerStateError) -> [ODataEntity]? {
        switch set {
        case "Applications": return try await state.applications.all().map(shapes.application)
        case "ConfigurationVersions": return try await configurations()
        case "Destinations": return try await services.applications.all().flatMap(destinations)
        case "DefiningQueries": return try await services.applications.all().flatMap(queries)
        case "Permissions": return try await services.applications.all().flatMap(permissions)
        case "Feeds": return try await feeds()
        case "Jobs": return try await state.jobs.all().map(job)
        case "Nodes": return try await state.nodes.all().map(node)
        case "Policies":
            return try await forEachApplication { application async throws(ServerStateError) in
                try await state.registrations.policies(of: application.id).map {
                    shapes.policy($0, application: application.name)
                }
            }
        case "DirectoryUsers":
            return try await forEachApplication { application async throws(ServerStateError) in
                try await state.registrations.directoryUsers(of: application.id).map {
                    shapes.directoryUser($0, application: application.name)
                }
            }
        case "ServiceKeys":
            return try await forEachApplication { application async throws(ServerStateError) in
                try await state.operators.serviceKeys(of: application.id).map {
                    shapes.serviceKey($0, application: application.name)
                }
            }
        case "Operators": return try await state.operators.all().map(shapes.operatorEntity)
        case "Secrets": return try await state.operators.secrets().compactMap(secret)
        case "Approvals": return try await state.operators.approvals().map(shapes.approval)
        case "Audit": return try await audit()
        case _ where OperatorServiceSets.names.contains(set):
            return try await OperatorServiceSets(shapes: shapes, state: state).entities(of: set)
        default: return nil
        }
    }

    private func forEachApplication(
        _ body: (ApplicationRecord) async throws(ServerStateError) -> [ODataEntity]
    ) async throws(ServerStateError) -> [ODataEntity] {
        var entities: [ODataEntity] = []
        for application in try await state.applications.all() { entities += try await body(application) }
        return entities
    }

    private func configurations() async throws(ServerStateError) -> [ODataEntity] {
        try await forEachApplication { application async throws(ServerStateError) in
            try await state.applications.configurations(of: application.id).map {
                configuration($0, application: application.name)
            }
        }
    }

    func configuration(_ record: ConfigurationRecord, application: String) -> ODataEntity {
        shapes.entity(
            "ConfigurationVersions",
            [
                "Application": .string(application), "Version": .integer(Int64(record.version)),
                "State": .string(record.state.rawValue), "Author": .string(record.createdBy),
                "Body": .string(String(decoding: record.body, as: UTF8.self)), "CreatedAt": .time(record.createdAt),
            ])
    }

    private func destinations(_ application: ActiveApplication) -> [ODataEntity] {
        application.configuration.destinations.sorted { $0.key < $1.key }.map { name, destination in
            shapes.entity(
                "Destinations",
                [
                    "Application": .string(application.record.name), "Name": .string(name),
                    "Kind": .string(destination.kind.rawValue), "URL": .string(destination.url),
                    "Dialect": .string(destination.dialect.rawValue),
                    "Authentication": .string(destination.authentication.kind.rawValue),
                ])
        }
    }

    private func queries(_ application: ActiveApplication) -> [ODataEntity] {
        application.configuration.destinations.sorted { $0.key < $1.key }.flatMap { destination, settings in
            settings.queries.sorted { $0.key < $1.key }.map { name, query in
                shapes.entity(
                    "DefiningQueries",
                    [
                        "Application": .string(application.record.name), "Destination": .string(destination),
                        "Name": .string(name), "Query": .string(query.query), "Group": .string(query.group),
                        "Visibility": .string(query.visibility.rawValue), "Tracking": .string(query.tracking),
                        "RefreshInterval": .integer(query.refreshInterval.components.seconds / 60),
                    ])
            }
        }
    }

    private func permissions(_ application: ActiveApplication) -> [ODataEntity] {
        application.configuration.permissions.enumerated().map { number, permission in
            shapes.entity(
                "Permissions",
                [
                    "Application": .string(application.record.name), "Number": .integer(Int64(number + 1)),
                    "Role": .string(permission.role), "Destination": .text(permission.destination),
                    "Set": .string(permission.set), "Verbs": .collection(permission.verbs.map { .string($0) }),
                    "Filter": .text(permission.filter),
                ])
        }
    }

    private func feeds() async throws(ServerStateError) -> [ODataEntity] {
        try await forEachApplication { application async throws(ServerStateError) in
            try await state.feeds.feeds(of: application.id).map { record in
                shapes.entity(
                    "Feeds",
                    [
                        "ID": .integer(record.id), "Application": .string(application.name),
                        "Destination": .string(record.destination), "Query": .string(record.query),
                        "Visibility": .string(record.visibility.rawValue), "Tracking": .string(record.tracking),
                        "State": .string(record.state.rawValue), "Note": .text(record.note),
                        "Rows": .integer(record.rowCount), "CheckedAt": .time(record.checkedAt),
                        "ChangedAt": .time(record.changedAt),
                    ])
            }
        }
    }

    private func job(_ record: JobRecord) -> ODataEntity {
        shapes.entity(
            "Jobs",
            [
                "ID": .integer(record.id), "Kind": .string(record.kind.rawValue), "Target": .string(record.target),
                "DueAt": .time(record.dueAt), "Owner": .text(record.owner), "Tries": .integer(Int64(record.tries)),
                "Error": .text(record.error),
            ])
    }

    private func node(_ record: NodeRecord) -> ODataEntity {
        shapes.entity(
            "Nodes",
            [
                "ID": .string(record.id), "Build": .string(record.build), "StartedAt": .time(record.startedAt),
                "SeenAt": .time(record.seenAt), "IsDraining": .boolean(record.isDraining),
            ])
    }

    private func secret(_ name: StoredSecretName) -> ODataEntity? {
        guard !name.name.hasPrefix(Self.linkPrefix) else { return nil }
        return shapes.entity(
            "Secrets",
            [
                "Name": .string(name.name), "Version": .integer(Int64(name.version)),
                "CreatedAt": .time(name.createdAt),
            ])
    }

    private func audit() async throws(ServerStateError) -> [ODataEntity] {
        var entities: [ODataEntity] = []
        var before: Int64?
        while entities.count < Self.maxAuditEntries {
            let page = try await state.operators.audit(before: before, limit: 1000)
            entities += page.map { entry in
                shapes.entity(
                    "Audit",
                    [
                        "Number": .integer(entry.number), "At": .time(entry.at), "Actor": .string(entry.note.actor),
                        "Action": .string(entry.note.action), "Target": .string(entry.note.target),
                        "Detail": .string(String(decoding: entry.note.detail, as: UTF8.self)),
                    ])
            }
            guard page.count == 1000, let last = page.last else { break }
            before = last.number
        }
        return entities
    }
}
