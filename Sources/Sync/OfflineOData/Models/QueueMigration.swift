import GRDB
import ODataModel
import ODataQuery

/// Migrates the queue and the before images from one version of a model to another. Requests without a place in
/// the new model go to the error archive, with all their values.
struct QueueMigration {
    private let old: EntityDataModel
    private let new: EntityDataModel
    private let environment: EngineEnvironment
    private let before: QueueTable
    private let after: QueueTable

    init(from old: EntityDataModel, to new: EntityDataModel, environment: EngineEnvironment) {
        self.old = old
        self.new = new
        self.environment = environment
        before = QueueTable(model: old)
        after = QueueTable(model: new)
    }

    /// - Returns: the requests without a place in the new model.
    func run(in database: Database) throws -> [String] {
        var refused: [String] = []
        for request in try before.requests(in: database) where !request.isWithoutPlace {
            guard try migrate(request, in: database) else { continue }
            refused.append(request.description)
        }
        try convertImages(in: database)
        return refused
    }

    /// - Returns: whether the request was refused.
    private func migrate(_ request: QueuedRequest, in database: Database) throws -> Bool {
        if request.kind == .call {
            let bound = request.boundRow.flatMap { new.shape(ofStored: $0.set) }
            try convertTheirs(of: request, to: bound, in: database)
            guard let reason = refusal(ofCall: request) else { return false }
            try archive(request, reason, in: database)
            return true
        }
        let key = ODataEntity(shape: request.changes.shape, key: request.key)
        guard let shape = new.shape(ofStored: request.entitySet),
            new.singleton(request.entitySet) != nil || key.converted(to: shape, in: new).0.key != nil
        else {
            try keepApart(request, in: database)
            return true
        }
        let (changes, lost) = request.changes.converted(to: target(of: request.changes, shape), in: new)
        try after.rewrite(
            request.id, key: key.converted(to: shape, in: new).0, changes: changes,
            base: request.base.map { $0.converted(to: target(of: $0, shape), in: new).0 }, in: database)
        try convertTheirs(of: request, to: shape, in: database)
        if !lost.isEmpty {
            try archive(
                request, "The service has no \(lost.sorted().joined(separator: ", ")) any more.",
                lost: request.changes.only(where: lost.contains), in: database)
            return true
        }
        guard let missing = missingPart(of: request, shape) else { return false }
        try archive(request, "The service has no \(missing) any more.", in: database)
        return true
    }

    /// Converts the server version in a failure.
    ///
    /// - Parameter shape: its type in the new model; `nil` if that has no place for it.
    private func convertTheirs(of request: QueuedRequest, to shape: TypeShape?, in database: Database) throws {
        guard var failure = request.failure, let theirs = failure.theirs else { return }
        failure.theirs = shape.map { theirs.converted(to: target(of: theirs, $0), in: new).0 }
        try after.markFailed(request.id, request.state, failure, in: database)
    }

    /// The type of an entity in the new model.
    private func target(of entity: ODataEntity, _ shape: TypeShape) -> TypeShape {
        new.shape(entity.shape.name) ?? shape
    }

    /// The part of a request, other than its entity, that is missing in the new model.
    private func missingPart(of request: QueuedRequest, _ shape: TypeShape) -> String? {
        if let property = request.streamProperty, shape.property(property) == nil { return property }
        guard let relation = request.relation else { return nil }
        if shape.navigationProperty(relation.navigation) == nil { return relation.navigation }
        return new.shape(ofStored: relation.targetSet) == nil ? relation.targetSet : nil
    }

    /// The reason for which a call is not possible any more; `nil` if it is.
    private func refusal(ofCall request: QueuedRequest) -> String? {
        guard let operation = self.operation(at: request.actionCall?.url, in: new) else {
            return "The service has no such operation any more."
        }
        let text = request.actionCall?.parameters ?? "{}"
        let gone = lost(from: text, self.operation(at: request.actionCall?.url, in: old), operation)
        if !gone.isEmpty {
            return "The service's \(operation.name) has no \(gone.joined(separator: ", ")) any more."
        }
        guard (try? CallParameters.values(text, of: operation, model: new)) == nil else { return nil }
        return "The service's \(operation.name) takes other parameters than these."
    }

    /// The parameters of a call that the new model does not have, or not with all their values. The service
    /// itself refuses a parameter that the old model did not have either.
    private func lost(from text: String, _ former: ODataOperation?, _ operation: ODataOperation) -> [String] {
        guard let former, let values = try? CallParameters.values(text, of: former, model: old) else { return [] }
        let present = Set(operation.parameters.map(\.name))
        let known = Set(former.parameters.map(\.name)).subtracting(present)
        return values.filter { known.contains($0.key) || $0.value.converted(to: new) == nil }.keys.sorted()
    }

    private func operation(at text: String?, in model: EntityDataModel) -> ODataOperation? {
        guard let text, let url = try? ODataURL(parsing: text),
            case .operation(let operation)? = try? Binder(model: model).bind(url).resource.target
        else { return nil }
        return operation
    }

    /// Puts a request with an existing entity into the archive. A request that may have acted keeps its unknown
    /// outcome.
    private func archive(
        _ request: QueuedRequest, _ message: String, lost: ODataEntity? = nil, in database: Database
    ) throws {
        var failure =
            try after.request(request.id, in: database)?.failure
            ?? QueuedRequest.Failure(
                status: nil, code: "ModelChanged", message: "", at: environment.instant)
        failure.message += failure.message.isEmpty ? message : " " + message
        if let lost { failure.innerError = lostText(lost, besides: failure.innerError) }
        try after.markFailed(request.id, state(of: request), failure, in: database)
    }

    private func state(of request: QueuedRequest) -> QueuedRequest.State {
        request.mayHaveActed || request.state == .inDoubt ? .inDoubt : .refused
    }

    /// The values without a place, as JSON, with the error of the service.
    private func lostText(_ lost: ODataEntity, besides innerError: String?) -> String {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.key("lost")
        writer.value(.complex(lost), type: .entity(lost.shape.name), model: old)
        if let innerError {
            writer.key("innererror")
            writer.string(innerError)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Stores the former form of a request, after its entity has lost its place.
    private func keepApart(_ request: QueuedRequest, in database: Database) throws {
        let rows = EngineRows(model: old, queue: before)
        let former = QueuedRequest.FormerRequest(
            entity: request.entityText, method: try rows.methods(in: database).method(of: request), url: request.url,
            body: rows.body(of: request))
        try after.markWithoutPlace(request, as: former, in: database)
        try archive(request, "The service has no \(request.entitySet) any more.", in: database)
    }

    private func convertImages(in database: Database) throws {
        let images = (BeforeImages(snapshots: before.snapshots), BeforeImages(snapshots: after.snapshots))
        let rows = try Row.fetchAll(database, sql: "SELECT entity_set, row_id FROM outpost_before")
        for row in rows {
            let (set, rowID): (String, Int64) = (row[0], row[1])
            guard let oldShape = old.shape(ofStored: set), let shape = new.shape(ofStored: set),
                var image = try images.0.image(set: set, rowID: rowID, shape: oldShape, in: database)
            else {
                try images.1.remove(set: set, rowID: rowID, in: database)
                continue
            }
            image.entity = image.entity.map { $0.converted(to: target(of: $0, shape), in: new).0 }
            try images.1.save(image, set: set, rowID: rowID, in: database)
        }
    }
}

extension ODataEntity {
    /// Returns the same values in another version of the type.
    ///
    /// - Returns: the entity, and the names of the loaded properties that the other version does not have, or not
    ///   with all their values.
    func converted(to shape: TypeShape, in model: EntityDataModel) -> (ODataEntity, lost: Set<String>) {
        var result = ODataEntity(shape: shape)
        var lost: Set<String> = []
        for (ordinal, property) in self.shape.properties.enumerated() {
            guard let value = values[ordinal] else { continue }
            guard let target = shape.ordinal(of: property.name), shape.properties[target].type == property.type,
                let value = value.converted(to: model)
            else {
                lost.insert(property.name)
                continue
            }
            result.values[target] = value
        }
        for (name, value) in dynamicProperties {
            guard shape.isOpen, let value = value.converted(to: model) else {
                lost.insert(name)
                continue
            }
            result.dynamicProperties[name] = value
        }
        result.control = control
        return (result, lost)
    }
}

extension ODataValue {
    /// Returns the same value in another version of its type; `nil` if that has no place for a part of it.
    fileprivate func converted(to model: EntityDataModel) -> ODataValue? {
        switch self {
        case .complex(let holder) where holder.shape != .untyped:
            guard let shape = model.shape(holder.shape.name) else { return nil }
            let (converted, lost) = holder.converted(to: shape, in: model)
            return lost.isEmpty ? .complex(converted) : nil
        case .collection(let members):
            let converted = members.compactMap { $0.converted(to: model) }
            return converted.count == members.count ? .collection(converted) : nil
        default: return self
        }
    }
}
