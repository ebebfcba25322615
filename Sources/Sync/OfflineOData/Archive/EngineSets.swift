import ODataModel

/// The engine's own entity sets, which an app reads like any others: pending changes, the error archive, and past
/// events.
///
/// They have these names unless the service has something of the same name. Then `Outpost_` comes before the
/// name.
///
/// ```swift
/// let archive = EngineSet.errorArchive.name(in: store.model)
/// for entry in try await service.entities(archive) { show(entry) }
/// ```
public enum EngineSet: String, CaseIterable, Sendable {
    /// The refused requests and those with an unknown outcome. DELETE discards one.
    case errorArchive = "ErrorArchive"
    /// All pending, sent and archived requests, in order. DELETE cancels one.
    case requestQueue = "RequestQueue"
    /// The past events of the store.
    case eventLog = "EventLog"

    /// The namespace of their types.
    static let namespace = "Outpost.Offline.V1"
    /// The term of an entity set that exists only in the store: it is never uploaded or cloned.
    static let clientOnlyTerm = Vocabulary.offline + "ClientOnly"

    /// The name of the set in a store of a service.
    public func name(in model: EntityDataModel) -> String {
        let container = model.container
        let isTaken =
            container.entitySets.contains { $0.name == rawValue && $0.type.namespace != Self.namespace }
            || container.singletons.contains { $0.name == rawValue }
            || container.operationImports.contains { $0.name == rawValue }
        return isTaken ? "Outpost_\(rawValue)" : rawValue
    }

    /// The type of the set's entities.
    var type: QualifiedName {
        switch self {
        case .errorArchive: QualifiedName(Self.namespace, "FailedRequest")
        case .requestQueue: QualifiedName(Self.namespace, "Request")
        case .eventLog: QualifiedName(Self.namespace, "Event")
        }
    }

    /// A service's model with the engine's sets.
    ///
    /// - Throws: `ModelError`.
    static func adding(to model: EntityDataModel) throws(ModelError) -> EntityDataModel {
        var schemas = model.schemas
        var own = ODataSchema(namespace: namespace, structuredTypes: types)
        let sets = allCases.map { set in
            EntitySet(
                name: set.name(in: model), type: set.type,
                bindings: set == .eventLog
                    ? [] : [.init(path: "DependentRequests", target: EngineSet.requestQueue.name(in: model))],
                annotations: [Annotation(term: clientOnlyTerm)])
        }
        if let index = schemas.firstIndex(where: { $0.container != nil }) {
            schemas[index].container?.entitySets += sets
        } else {
            own.container = EntityContainer(name: QualifiedName(namespace, "Container"), entitySets: sets)
        }
        return try EntityDataModel(
            schemas: schemas + [own], version: model.version, includedSchemas: model.includedSchemas,
            references: model.references)
    }

    /// The model of a service without the engine's sets. A service that is itself an offline store has them, and
    /// another store has its own.
    ///
    /// - Throws: `ModelError`.
    static func removing(from model: EntityDataModel) throws(ModelError) -> EntityDataModel {
        guard model.schemas.contains(where: { $0.namespace == namespace }) else { return model }
        var schemas = model.schemas.filter { $0.namespace != namespace }
        for index in schemas.indices {
            schemas[index].container?.entitySets.removeAll { $0.type.namespace == namespace }
        }
        return try EntityDataModel(
            schemas: schemas, version: model.version, includedSchemas: model.includedSchemas,
            references: model.references, setsOfUnknownTypes: model.setsOfUnknownTypes)
    }

    // MARK: Types

    private static var types: [StructuredType] {
        let text = TypeReference.primitive(.string)
        func property(_ name: String, _ type: TypeReference) -> Property { Property(name: name, type: type) }
        let key = Property(name: "RequestID", type: .primitive(.int64), isNullable: false)
        let common = [
            property("CustomTag", text), property("EntitySet", text), property("Entity", text),
            property("CreatedAt", .primitive(.dateTimeOffset)),
        ]
        // Of any type: the entity of the request in its current and in its sent form. Metadata for V2 and V3 have
        // no such type and leave these two properties out; the store returns them all the same.
        let any = QualifiedName("Edm", "EntityType")
        let related = [
            NavigationProperty(
                name: "DependentRequests", target: EngineSet.requestQueue.type, isCollection: true),
            NavigationProperty(
                name: "CustomHeaders", target: QualifiedName(namespace, "CustomHeader"), isCollection: true,
                isContainment: true),
            NavigationProperty(name: "AffectedEntity", target: any, isCollection: false),
            NavigationProperty(name: "RequestEntity", target: any, isCollection: false),
        ]
        return [
            StructuredType(
                name: EngineSet.errorArchive.type, kind: .entity, key: [.init(path: "RequestID")],
                properties: [key] + common + [
                    property("HTTPStatusCode", .primitive(.int32)), property("Code", text), property("Message", text),
                    property("InnerError", text), property("Domain", text), property("Target", text),
                    property("IsInDoubt", .primitive(.boolean)), property("FailedAt", .primitive(.dateTimeOffset)),
                    property("RequestMethod", text), property("RequestURL", text), property("RequestBody", text),
                ], navigationProperties: related),
            StructuredType(
                name: EngineSet.requestQueue.type, kind: .entity, key: [.init(path: "RequestID")],
                properties: [key] + common + [
                    property("Status", text), property("Method", text), property("URL", text), property("Body", text),
                    property("Category", text), property("Priority", .primitive(.int32)), property("ChangeSet", text),
                ], navigationProperties: related),
            StructuredType(
                name: QualifiedName(namespace, "CustomHeader"), kind: .entity, key: [.init(path: "HeaderID")],
                properties: [
                    Property(name: "HeaderID", type: .primitive(.int64), isNullable: false), property("Name", text),
                    property("Value", text),
                ]),
            StructuredType(
                name: EngineSet.eventLog.type, kind: .entity, key: [.init(path: "ID")],
                properties: [
                    Property(name: "ID", type: .primitive(.int64), isNullable: false),
                    Property(name: "Type", type: text, facets: Facets(maxLength: 128)), property("Details", text),
                    property("Time", .primitive(.dateTimeOffset)), property("Text", text),
                    property("Requests", .primitive(.int32)), property("Failures", .primitive(.int32)),
                    property("Bytes", .primitive(.int64)),
                ]),
        ]
    }
}
