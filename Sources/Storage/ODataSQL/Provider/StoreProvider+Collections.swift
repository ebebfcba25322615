import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Changes to a collection as a whole: updates of its members or their replacement (OData Protocol 4.01, 11.4.12
/// *Update a Collection of Entities* and 11.4.13 *Replace a Collection of Entities*).
extension StoreProvider {
    /// Creates, changes and removes the members in the body, in one transaction.
    ///
    /// With `continue-on-error`, a refused member remains unchanged, and its item in the response has the term
    /// `Core.DataModificationException`. Otherwise, a refused member undoes all changes.
    func changeCollection(_ request: ODataRequest, _ bound: BoundURL, in database: Database) throws -> ODataResponse {
        guard case .delta(let page) = request.body else {
            throw ODataError(
                status: 400, code: "InvalidBody", message: "The members of the collection were expected in the body.")
        }
        try checkWholeCollection(bound.resource)
        let change = try CollectionChange(request, bound, writer: writer, database: database)
        var result = EntityPage()
        var kept: Set<String> = []
        for item in page.items {
            // A refused member remains unchanged, so that it must not be removed as missing from the body.
            if request.method == .replace, case .entity(let entity) = item, let id = try? change.idOfMember(entity) {
                kept.insert(id)
            }
            func run() throws {
                let (answer, id) = try change.apply(item)
                if let id { kept.insert(id) }
                result.append(answer)
            }
            guard request.preferences.continueOnError else {
                try run()
                continue
            }
            let exists = change.exists(item)
            do {
                try database.inSavepoint {
                    try run()
                    return .commit
                }
            } catch {
                change.failures += 1
                let failure = change.failure(of: item, exists: exists, ODataError(translating: error))
                if let failure { result.append(failure) }
            }
        }
        if request.method == .replace { try change.keepOnly(kept) }
        guard change.failures > 0 || request.preferences.returns == .representation else {
            return ODataResponse(status: 204)
        }
        // The response to PUT contains all members.
        if request.preferences.returns != .representation, request.method != .replace { result = result.onlyFailures }
        var response = ODataResponse(body: .page(result))
        if request.preferences.continueOnError { response.preferencesApplied.append("continue-on-error") }
        if let returns = request.preferences.returns {
            response.preferencesApplied.append("return=\(returns.rawValue)")
        }
        return response
    }
}

extension EntityPage {
    /// A page with only the items that report a refused change.
    fileprivate var onlyFailures: EntityPage {
        var page = EntityPage()
        for item in items {
            let annotations: [String: ODataValue] =
                switch item {
                case .entity(let entity): entity.control.annotations
                case .link(let link): link.annotations
                case .removed: [:]
                }
            if annotations[CollectionChange.exceptionTerm] != nil { page.append(item) }
        }
        return page
    }
}

/// The members of a collection during a change of the whole collection.
private final class CollectionChange {
    static let exceptionTerm = Vocabulary.core + "DataModificationException"

    let shape: TypeShape
    var failures = 0
    private let target: WriteTarget
    private let request: ODataRequest
    /// Whether the properties that a member omits are reset.
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
        var single = request.unconditional
        single.method = .update
        self.request = single
        self.writer = writer
        self.database = database
    }

    private var context: WriteContext { WriteContext(request: request, database: database) }

    private var relation: RowWriter.Relation? {
        get throws {
            guard let via = target.via else { return nil }
            let plan = try writer.plan(via.row.set)
            return plan.storage.navigation[via.path].map {
                RowWriter.Relation(row: via.row, name: via.path, storage: $0, plan: plan)
            }
        }
    }

    /// Returns the id of the existing member with the key of an entity; `nil` if there is none.
    func idOfMember(_ entity: ODataEntity) throws -> String? { try member(for: entity)?.id }

    /// Returns the existing member with the key of an entity; `nil` if there is none.
    private func member(for entity: ODataEntity) throws -> RowWriter.WrittenRow? {
        if let relation = try relation {
            let (joined, parent) = try writer.joined(entity, to: relation)
            guard let key = try writer.key(of: entity) ?? joined.key else { return nil }
            return try writer.read(key: key, in: relation.storage.target, parent: parent, database: database)
        }
        guard let key = try writer.key(of: entity) else { return nil }
        return try writer.read(key: key, in: target.set, parent: target.parent, database: database)
    }

    /// Applies one change.
    ///
    /// - Returns: The item of the response, and the id of the member if it was created or changed.
    func apply(_ item: EntityPage.DeltaItem) throws -> (answer: EntityPage.DeltaItem, id: String?) {
        switch item {
        case .entity(let entity):
            let row = try put(entity)
            var written = row.entity
            // The client identifies its entities in the response by their content ids (11.4.12).
            for (term, value) in entity.control.annotations where term.hasSuffix(".ContentID") {
                written.control.annotations[term] = value
            }
            return (.entity(written), row.id)
        case .removed(let removed):
            var gone = removed
            gone.id = try id(of: removed)
            gone.etag = nil
            try remove(removed)
            return (.removed(gone), nil)
        case .link(let link):
            try change(link)
            return (item, nil)
        }
    }

    /// Returns whether the entity of an item exists before the change.
    func exists(_ item: EntityPage.DeltaItem) -> Bool {
        guard case .entity(let entity) = item else { return true }
        return ((try? idOfMember(entity)) ?? nil) != nil
    }

    /// Returns the canonical id of an entity to remove.
    private func id(of removed: RemovedEntity) throws -> String {
        guard let key = try writer.key(of: Self.entity(removed, shape)), target.parent == nil else { return removed.id }
        return EntityID.canonical(set: target.set, key: key, shape: shape, model: writer.mapping.model)
    }

    /// Returns the item that reports a refused change with its reason; `nil` if the response contains no item for
    /// this change (OData Protocol 4.01, 11.4.12.1 and 11.4.13.1).
    func failure(of item: EntityPage.DeltaItem, exists: Bool, _ error: ODataError) -> EntityPage.DeltaItem? {
        switch item {
        case .entity(var entity):
            if exists {
                // The response to PUT contains the current members.
                let member = replaces ? (try? member(for: entity))?.entity : nil
                return .entity(Self.annotated(member ?? entity, "update", error: error))
            }
            // A failed insert is a deleted entity of a delta, which the response to PUT omits.
            if replaces { return nil }
            entity.control.removedReason = RemovedEntity.Reason.deleted.rawValue
            if entity.control.id == nil, let key = entity.key, target.parent == nil {
                entity.control.id = EntityID.canonical(
                    set: target.set, key: key, shape: shape, model: writer.mapping.model)
            }
            return .entity(Self.annotated(entity, "insert", error: error))
        case .removed(let removed):
            // A reference to the entity, which still exists.
            var entity = ODataEntity(shape: shape)
            entity.control.id = (try? id(of: removed)) ?? removed.id
            let isUnlinked = removed.reason == .changed && !((try? isContained) ?? true)
            return .entity(Self.annotated(entity, isUnlinked ? "unlink" : "delete", error: error))
        case .link(var link):
            // A link that could not be created is reported as deleted, and the reverse.
            link.annotations[Self.exceptionTerm] = Self.exception(link.isDeleted ? "unlink" : "link", error)
            link.isDeleted.toggle()
            return .link(link)
        }
    }

    /// Whether removed members are deleted, as in an entity set or a contained collection.
    private var isContained: Bool {
        get throws {
            guard let via = target.via else { return true }
            return via.isContainment
        }
    }

    /// Creates or changes a member. In a collection of related entities, the member is also linked.
    func put(_ entity: ODataEntity) throws -> RowWriter.WrittenRow {
        if let relation = try relation {
            guard let row = try writer.put(entity, into: relation, in: context) else {
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

    /// Deletes a member, or unlinks it from a collection of related entities.
    func remove(_ removed: RemovedEntity) throws {
        let entity = Self.entity(removed, shape)
        guard let key = try writer.key(of: entity) else {
            throw ODataError(status: 400, code: "InvalidBody", message: "A removed member needs its id or key.")
        }
        if let relation = try relation {
            _ = try writer.put(entity, into: relation, in: context)
            return
        }
        guard let existing = try writer.read(key: key, in: target.set, parent: target.parent, database: database)
        else { return }
        try writer.checkCondition(of: entity, on: existing)
        try writer.delete(key: key, in: target.set, parent: target.parent, request: request, database: database)
    }

    /// Adds or removes a relation of a member (OData JSON Format 4.01, 15.4 and 15.5).
    ///
    /// - Throws: 404 if an entity does not exist, 400 if the link is incomplete or its source is not a member.
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
                row, navigation: link.relationship, from: link.target, request: request, in: database)
        }
        if let target = link.target {
            try writer.link(row, navigation: link.relationship, to: target, request: request, in: database)
        }
    }

    /// Removes all members except the given ones.
    func keepOnly(_ ids: Set<String>) throws {
        if let relation = try relation {
            return try writer.keepOnly(ids, of: relation, type: shape.name, in: context)
        }
        let plan = try writer.plan(target.set)
        var sql = plan.selection
        if let parent = target.parent { sql += " WHERE \(OfflineLayout.parentColumn.sqlIdentifier) = \(parent)" }
        for row in try Row.fetchAll(database, sql: sql) {
            let written = try writer.written(plan.stored(row), plan: plan, in: database)
            let key = written.entity.key
            guard !ids.contains(written.id), writer.mapping.model.isType(written.entity.shape.name, shape.name),
                // An earlier deletion may have removed this member, too.
                try writer.read(key: key, in: target.set, parent: target.parent, database: database) != nil
            else { continue }
            try writer.delete(
                key: key, in: target.set, parent: target.parent, request: request, database: database)
        }
    }

    static func entity(_ removed: RemovedEntity, _ shape: TypeShape) -> ODataEntity {
        var entity = ODataEntity(shape: shape)
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

    private static func annotated(_ entity: ODataEntity, _ operation: String, error: ODataError) -> ODataEntity {
        var entity = entity
        entity.control.annotations[exceptionTerm] = exception(operation, error)
        return entity
    }

    /// Returns the value of `Core.DataModificationException`.
    private static func exception(_ operation: String, _ error: ODataError) -> ODataValue {
        var exception = ODataEntity(shape: .untyped)
        exception.dynamicProperties = [
            "failedOperation": .string(operation), "responseCode": .integer(Int64(error.status)),
            "info": .complex(
                ODataEntity(
                    shape: .untyped,
                    ["code": .string(error.code), "message": .string(error.message), "severity": .string("error")])),
        ]
        return .complex(exception)
    }
}
