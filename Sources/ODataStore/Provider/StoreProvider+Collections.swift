import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Changes to a collection as a whole: what is to change in it, or what it is to hold
/// (OData Protocol 4.01, 11.4.12 *Update a Collection of Entities* and 11.4.13 *Replace a Collection of Entities*).
extension StoreProvider {
    /// Creates, changes and takes away the members that the body says, in one transaction.
    ///
    /// With `continue-on-error` a member that is refused is left as it was, and the answer holds it with the term
    /// `Core.DataModificationException`; else nothing is changed when one is refused.
    func changeCollection(_ request: ODataRequest, _ bound: BoundURL, in database: Database) throws -> ODataResponse {
        guard case .delta(let page) = request.body else {
            throw ODataError(
                status: 400, code: "InvalidBody", message: "The members of the collection were expected in the body.")
        }
        try checkWholeCollection(bound.resource)
        let change = try CollectionChange(request, bound, writer: writer, database: database)
        var result = EntityPage()
        func run(_ entity: Entity, _ operation: String, _ body: () throws -> Entity?) throws {
            guard request.preferences.continueOnError else {
                if let written = try body() { result.entities.append(written) }
                return
            }
            do {
                try database.inSavepoint {
                    if let written = try body() { result.entities.append(written) }
                    return .commit
                }
            } catch {
                result.entities.append(
                    CollectionChange.failure(of: entity, operation, ODataError(translating: error)))
                change.failures += 1
            }
        }
        var kept: Set<String> = []
        for entity in page.entities {
            // One that is refused is left as it was, and so must not be taken for one that the collection is without.
            if request.method == .replace, let id = try? change.idOfMember(entity) { kept.insert(id) }
            try run(entity, "upsert") {
                let row = try change.put(entity)
                kept.insert(row.id)
                return row.entity
            }
        }
        for removed in page.removed {
            let entity = CollectionChange.entity(removed, change.shape)
            try run(entity, removed.reason == .deleted ? "delete" : "unlink") {
                try change.remove(removed)
                return nil
            }
        }
        for link in page.links {
            try run(Entity(shape: change.shape), link.isDeleted ? "unlink" : "link") {
                try change.change(link)
                return nil
            }
        }
        if request.method == .replace { try change.keepOnly(kept) }
        guard change.failures > 0 || request.preferences.returns == .representation else {
            return ODataResponse(status: 204)
        }
        if request.preferences.returns != .representation {
            result.entities.removeAll { $0.control.annotations[CollectionChange.exceptionTerm] == nil }
        }
        var response = ODataResponse(body: .page(result))
        if request.preferences.continueOnError { response.preferencesApplied.append("continue-on-error") }
        if let returns = request.preferences.returns {
            response.preferencesApplied.append("return=\(returns.rawValue)")
        }
        return response
    }
}

/// The members of one collection while it is changed as a whole.
private final class CollectionChange {
    static let exceptionTerm = "Org.OData.Core.V1.DataModificationException"

    let shape: Shape
    var failures = 0
    private let target: WriteTarget
    private let request: ODataRequest
    /// Whether what a member does not give is taken from it.
    private let replaces: Bool
    private let writer: RowWriter
    private let database: Database

    init(_ request: ODataRequest, _ bound: BoundURL, writer: RowWriter, database: Database) throws {
        guard case .entities(let shape, _) = bound.resource.target else {
            throw ODataError.methodNotAllowed(request.method, allowed: ["GET"])
        }
        self.shape = shape
        target = try WriteTarget(bound.resource, writer: writer, database: database)
        replaces = request.method == .replace
        var single = writer.unconditional(request)
        single.method = .update
        self.request = single
        self.writer = writer
        self.database = database
    }

    private var relation: RowWriter.Relation? {
        get throws {
            guard let via = target.via else { return nil }
            let plan = try writer.plan(via.row.set)
            return plan.storage.navigation[via.path].map {
                RowWriter.Relation(row: via.row, name: via.path, storage: $0, plan: plan)
            }
        }
    }

    /// The id of the member that is there with the key of an entity; `nil` where there is none.
    func idOfMember(_ entity: Entity) throws -> String? {
        if let relation = try relation {
            let (joined, parent) = try writer.joined(entity, to: relation)
            guard let key = try writer.key(of: entity) ?? joined.key else { return nil }
            return try writer.read(key: key, in: relation.storage.target, parent: parent, database: database)?.id
        }
        guard let key = try writer.key(of: entity) else { return nil }
        return try writer.read(key: key, in: target.set, parent: target.parent, database: database)?.id
    }

    /// Creates or changes a member; in a collection of related entities, relates it.
    func put(_ entity: Entity) throws -> RowWriter.WrittenRow {
        if let relation = try relation {
            guard let row = try writer.put(entity, into: relation, request: request, database: database) else {
                throw ODataError(status: 400, code: "InvalidBody", message: "A member is missing.")
            }
            return row
        }
        let key = try writer.key(of: entity)
        let existing = try key.flatMap {
            try writer.read(key: $0, in: target.set, parent: target.parent, database: database)
        }
        try writer.checkCondition(of: entity, on: existing)
        if existing != nil {
            return replaces
                ? try writer.replace(
                    entity, key: key, in: target.set, parent: target.parent, request: request, database: database)
                : try writer.update(
                    entity, key: key, in: target.set, parent: target.parent, request: request, database: database)
        }
        var creating = request
        creating.method = .create
        return try writer.create(
            entity, in: target.set, parent: target.parent, request: creating, database: database)
    }

    /// Deletes a member, or takes it out of a collection of related entities.
    func remove(_ removed: RemovedEntity) throws {
        let entity = Self.entity(removed, shape)
        guard let key = try writer.key(of: entity) else {
            throw ODataError(status: 400, code: "InvalidBody", message: "A removed member needs its id or key.")
        }
        if let relation = try relation {
            _ = try writer.put(entity, into: relation, request: request, database: database)
            return
        }
        guard let existing = try writer.read(key: key, in: target.set, parent: target.parent, database: database)
        else { return }
        try writer.checkCondition(of: entity, on: existing)
        try writer.delete(key: key, in: target.set, parent: target.parent, request: request, database: database)
    }

    /// Makes or takes away a relation of one of the members (OData JSON Format 4.01, 15.4 and 15.5).
    ///
    /// - Throws: 404 when an entity is not there, 400 when the link says too little or its source is no member.
    func change(_ link: ChangedLink) throws {
        let source = try EntityID.parse(link.source, model: writer.mapping.model)
        guard target.set == source.set else {
            throw ODataError(
                status: 400, code: "InvalidLink", message: "\(link.source) is not of \(target.set).", target: "source")
        }
        guard let row = try writer.read(key: source.key, in: target.set, parent: target.parent, database: database)
        else { throw ODataError.notFound(link.source) }
        let isCollection = row.entity.shape.navigationProperty(link.relationship)?.isCollection ?? false
        guard link.target != nil || (link.isDeleted && !isCollection) else {
            throw ODataError(status: 400, code: "InvalidLink", message: "The link needs its target.", target: "target")
        }
        if link.isDeleted {
            return try writer.unlink(
                row, navigation: link.relationship, from: link.target, request: request, database: database)
        }
        if let target = link.target {
            try writer.link(row, navigation: link.relationship, to: target, request: request, database: database)
        }
    }

    /// Takes away all members but some.
    func keepOnly(_ ids: Set<String>) throws {
        if let relation = try relation {
            return try writer.keepOnly(ids, of: relation, type: shape.name, request: request, database: database)
        }
        let plan = try writer.plan(target.set)
        var sql = plan.selection
        if let parent = target.parent { sql += " WHERE \(quoted(OfflineLayout.parentColumn)) = \(parent)" }
        for row in try Row.fetchAll(database, sql: sql) {
            let written = try writer.written(plan.stored(row), plan: plan, database: database)
            let key = written.entity.key
            guard !ids.contains(written.id), writer.mapping.model.isType(written.entity.shape.name, shape.name),
                // What was deleted before may have taken this along.
                try writer.read(key: key, in: target.set, parent: target.parent, database: database) != nil
            else { continue }
            try writer.delete(
                key: key, in: target.set, parent: target.parent, request: request, database: database)
        }
    }

    static func entity(_ removed: RemovedEntity, _ shape: Shape) -> Entity {
        var entity = Entity(shape: shape)
        entity.control.removedReason = removed.reason.rawValue
        if !removed.id.isEmpty { entity.control.id = removed.id }
        entity.control.etag = removed.etag
        for part in removed.key?.parts ?? [] {
            guard let path = shape.key.first(where: { $0.name == part.name })?.path,
                let ordinal = shape.ordinal(of: path)
            else { continue }
            entity.values[ordinal] = part.value
        }
        return entity
    }

    /// The member that was refused, with the reason.
    static func failure(of entity: Entity, _ operation: String, _ error: ODataError) -> Entity {
        var entity = entity
        var exception = Entity(shape: .untyped)
        exception.dynamicProperties = [
            "failedOperation": .string(operation), "responseCode": .integer(Int64(error.status)),
            "info": .complex(
                Entity(
                    shape: .untyped,
                    ["code": .string(error.code), "message": .string(error.message), "severity": .string("error")])),
        ]
        entity.control.annotations[exceptionTerm] = .complex(exception)
        return entity
    }
}
