import GRDB
import ODataModel
import ODataService

/// Makes the entities of the engine's own sets (``EngineSet``).
struct EngineRows {
    let model: EntityDataModel
    let queue: QueueTable

    /// All entities of a set, with their dependent requests and header fields inline.
    func entities(of set: EngineSet, in database: Database) throws -> [ODataEntity] {
        guard let shape = model.shape(set.type) else { return [] }
        if set == .eventLog { return try Events.all(in: database).map { event($0, shape) } }
        let requests = try queue.requests(in: database)
        let methods = try methods(in: database)
        var dependents: [Int64: [QueuedRequest]] = [:]
        for request in requests { for id in request.dependsOn { dependents[id, default: []].append(request) } }
        let shown =
            set == .requestQueue ? requests : requests.filter { QueuedRequest.State.ofArchive.contains($0.state) }
        return shown.map { request in
            var entity =
                set == .requestQueue
                ? queued(request, shape, methods: methods) : failed(request, shape, methods: methods)
            let requestShape = model.shape(EngineSet.requestQueue.type) ?? shape
            entity.related["DependentRequests"] = .many(
                (dependents[request.id] ?? []).map { queued($0, requestShape, methods: methods) })
            entity.related["CustomHeaders"] = .many(headers(of: request))
            return entity
        }
    }

    private func event(_ event: SyncEvent, _ shape: TypeShape) -> ODataEntity {
        ODataEntity(
            shape: shape,
            [
                "ID": .integer(event.id), "Type": .string(event.type), "Details": Self.text(event.details),
                "Time": Self.instant(event.at), "Text": .string(event.text), "Requests": Self.number(event.requests),
                "Failures": Self.number(event.failures), "Bytes": Self.number(event.bytes),
            ])
    }

    private func common(_ request: QueuedRequest) -> [String: ODataValue] {
        [
            "RequestID": .integer(request.id), "CustomTag": Self.text(request.options.tag),
            "EntitySet": .string(request.entitySet), "Entity": .string(request.entityText),
            "CreatedAt": Self.instant(request.createdAt),
        ]
    }

    /// The form in which requests are sent to the service, as far as it is known.
    func methods(in database: Database) throws -> RequestMethods {
        RequestMethods(model: model, wholeEntities: try ServiceKnowledge.wholeEntities(in: database))
    }

    private func queued(_ request: QueuedRequest, _ shape: TypeShape, methods: RequestMethods) -> ODataEntity {
        let status =
            switch request.state {
            case .held: "Held"
            case .pending: "NotSent"
            case .sending: "Sent"
            case .refused: "Failed"
            case .inDoubt: "InDoubt"
            }
        return ODataEntity(
            shape: shape,
            common(request).merging([
                "Status": .string(status), "Method": .string(methods.method(of: request)), "URL": .string(request.url),
                "Body": Self.text(body(of: request)), "Category": Self.text(request.options.category),
                "Priority": .integer(Int64(request.options.priority)),
                "ChangeSet": Self.text(request.options.changeSet),
            ]) { $1 })
    }

    private func failed(_ request: QueuedRequest, _ shape: TypeShape, methods: RequestMethods) -> ODataEntity {
        let failure = request.failure
        return ODataEntity(
            shape: shape,
            common(request).merging([
                "HTTPStatusCode": Self.number(failure?.status), "Code": Self.text(failure?.code),
                "Message": Self.text(failure?.message), "InnerError": Self.text(failure?.innerError),
                "Domain": .string(failure?.status == nil || failure?.status == 0 ? "Offline" : "Service"),
                "Target": Self.text(failure?.target), "IsInDoubt": .boolean(request.state == .inDoubt),
                "FailedAt": Self.instant(failure?.at), "RequestMethod": .string(methods.method(of: request)),
                "RequestURL": .string(request.url), "RequestBody": Self.text(body(of: request)),
            ]) { $1 })
    }

    private func headers(of request: QueuedRequest) -> [ODataEntity] {
        guard let shape = model.shape(QualifiedName(EngineSet.namespace, "CustomHeader")) else { return [] }
        return request.options.headers.sorted { $0.key < $1.key }.enumerated().map { position, header in
            ODataEntity(
                shape: shape,
                [
                    "HeaderID": .integer(Int64(position + 1)), "Name": .string(header.key),
                    "Value": .string(header.value),
                ])
        }
    }

    /// The properties that are sent, as JSON; `nil` for a delete.
    func body(of request: QueuedRequest) -> String? {
        if let former = request.former { return former.body }
        switch request.kind {
        case .delete, .stream, .unlink: return nil
        case .link: return request.relation.map(\.target).map { "{\"@odata.id\":\"\($0)\"}" }
        case .call: return request.actionCall?.parameters
        case .create, .update: break
        }
        var writer = JSONWriter(reservingCapacity: 256)
        writer.value(.complex(request.changes), type: .entity(request.changes.shape.name), model: model)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func text(_ text: String?) -> ODataValue { text.map { .string($0) } ?? .null }

    private static func number(_ number: (some BinaryInteger)?) -> ODataValue {
        number.map { .integer(Int64($0)) } ?? .null
    }

    private static func instant(_ instant: ODataDateTimeOffset?) -> ODataValue {
        instant.map { .dateTimeOffset($0) } ?? .null
    }
}

/// The HTTP methods by which requests are sent to a service.
struct RequestMethods {
    let model: EntityDataModel
    /// The sets that do not accept changes of single properties: their entities are replaced as a whole.
    let wholeEntities: ServiceKnowledge.WholeEntities

    func method(of request: QueuedRequest) -> String {
        guard !request.isWithoutPlace else { return request.method }
        return switch request.kind {
        case .create where isPut(request.entitySet),
            .link where isSingle(request.relation?.navigation, request.entitySet):
            "PUT"
        case .update: wholeEntities.contains(request.entitySet) ? "PUT" : model.version < .v3 ? "MERGE" : "PATCH"
        default: request.method
        }
    }

    /// Whether a set is a containment path to a single entity, which is put there.
    private func isPut(_ set: String) -> Bool {
        guard let slash = set.lastIndex(of: "/") else { return false }
        return isSingle(String(set[set.index(after: slash)...]), String(set[..<slash]))
    }

    private func isSingle(_ navigation: String?, _ set: String) -> Bool {
        navigation.flatMap { model.shape(ofStored: set)?.navigationProperty($0) }?.isCollection == false
    }
}

extension QueuedRequest {
    /// The HTTP method, as far as the request itself determines it. A service may need PUT or MERGE instead of
    /// PATCH, and relations to a single entity use PUT. `RequestMethod` in the error archive shows the actual
    /// method.
    public var method: String {
        if let former { return former.method }
        return switch kind {
        case .create, .call, .link: "POST"
        case .update: "PATCH"
        case .stream: stream == nil ? "DELETE" : "PUT"
        case .delete, .unlink: "DELETE"
        }
    }

    /// The URL of the request, relative to the service root.
    public var url: String {
        if let former { return former.url }
        return kind == .create
            ? subject.container?.url ?? entitySet : entityText + (kind == .link || kind == .unlink ? "/$ref" : "")
    }
}
