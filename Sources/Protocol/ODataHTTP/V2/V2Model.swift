import ODataModel
import ODataService
import Synchronization

/// What clients of OData 2.0 see of a service: its model as V2 metadata says it, with V2's types.
///
/// The metadata document is the table: what V2 cannot say is not in it, and is neither sent nor taken.
struct V2Model: Sendable {
    /// The service's own model.
    let service: EntityDataModel
    /// The model that the V2 metadata describes.
    let visible: EntityDataModel
    /// The V2 metadata.
    let metadata: [UInt8]
    /// What of the service is bound to entities, and how V2 calls it.
    let boundOperations: V2BoundOperations
    /// What the entries of Atom say can be done.
    let actionLinks: V2ActionLinks

    /// Writes the metadata of a model and reads it as a client would.
    ///
    /// - Throws: ``CSDLError`` when the model has something that no V2 metadata can hold together.
    init(_ service: EntityDataModel, capabilities: PublishedCapabilities? = nil) throws(CSDLError) {
        self.service = service
        // A model that was made once can be made again with attributes more.
        let whole = (try? Self.withOneContainer(service)) ?? service
        let tagged = (try? Self.statingConcurrency(of: whole)) ?? whole
        boundOperations = V2BoundOperations(of: service)
        let callable = (try? boundOperations.adding(to: tagged)) ?? tagged
        let described = (try? SAPAnnotations(capabilities: capabilities).adding(to: callable)) ?? callable
        metadata = CSDLWriter.document(described, as: .xml(.v2)).bytes
        visible = try CSDLReader.read(xml: metadata)
        actionLinks = V2ActionLinks(of: visible)
    }

    /// The model with all sets in the default container, which are addressed here by their names, whatever another service
    /// before V4 calls them that the model comes from.
    private static func withOneContainer(_ model: EntityDataModel) throws(ModelError) -> EntityDataModel {
        let container = model.container
        guard
            container.entitySets.contains(where: { $0.qualifiedName != nil })
                || container.operationImports.contains(where: { $0.qualifiedName != nil })
        else { return model }
        var schemas = model.schemas
        for schema in schemas.indices {
            for set in schemas[schema].container?.entitySets.indices ?? 0..<0 {
                schemas[schema].container?.entitySets[set].qualifiedName = nil
            }
            for index in schemas[schema].container?.operationImports.indices ?? 0..<0 {
                schemas[schema].container?.operationImports[index].qualifiedName = nil
            }
        }
        return try EntityDataModel(
            schemas: schemas, version: model.version, includedSchemas: model.includedSchemas,
            references: model.references)
    }

    /// The model with what V4 says of a set, that changes are checked against some properties, said of the properties.
    private static func statingConcurrency(of model: EntityDataModel) throws(ModelError) -> EntityDataModel {
        var tokens: [QualifiedName: Set<String>] = [:]
        for set in model.container.entitySets {
            let stated = set.annotations.annotation(Vocabulary.optimisticConcurrency)
            guard case .collection(let paths)? = stated?.value else { continue }
            for case .path(_, let name) in paths { tokens[set.type, default: []].insert(name) }
        }
        guard !tokens.isEmpty else { return model }
        var schemas = model.schemas
        for schema in schemas.indices {
            for type in schemas[schema].structuredTypes.indices {
                guard let names = tokens[schemas[schema].structuredTypes[type].name] else { continue }
                for index in schemas[schema].structuredTypes[type].properties.indices
                where names.contains(schemas[schema].structuredTypes[type].properties[index].name) {
                    schemas[schema].structuredTypes[type].properties[index].isConcurrencyToken = true
                }
            }
        }
        return try EntityDataModel(
            schemas: schemas, version: model.version, includedSchemas: model.includedSchemas,
            references: model.references)
    }

    /// Whether the service's types are V2's already, so that values and literals go through as they are.
    var isNative: Bool { service.version < .v4 }

    /// Keeps the last one: a service has one model, or now and then another.
    final class Cache: Sendable {
        private let last = Mutex<V2Model?>(nil)

        func model(
            for service: EntityDataModel, capabilities: PublishedCapabilities?
        ) throws(CSDLError) -> V2Model {
            if let kept = last.withLock({ $0 }), kept.service === service { return kept }
            let fresh = try V2Model(service, capabilities: capabilities)
            last.withLock { $0 = fresh }
            return fresh
        }
    }
}
