import ODataModel
import ODataService
import Synchronization

/// The model of a service for clients of OData 2.0, with V2 types.
///
/// The V2 metadata determine the model: features that V2 cannot express are neither sent nor accepted.
struct V2Model: Sendable {
    /// The service's own model.
    let service: EntityDataModel
    /// The model of the V2 metadata.
    let visible: EntityDataModel
    /// The V2 metadata document.
    let metadata: [UInt8]
    /// The bound operations of the service as function imports.
    let boundOperations: V2BoundOperations
    /// The links to actions in Atom entries.
    let actionLinks: V2ActionLinks

    /// Writes the V2 metadata of a model and reads them back, as a client would.
    ///
    /// - Throws: ``CSDLError`` if the model cannot be expressed as consistent V2 metadata.
    init(_ service: EntityDataModel, capabilities: PublishedCapabilities? = nil) throws(CSDLError) {
        self.service = service
        // Adding attributes to a valid model does not fail.
        let whole = (try? Self.withOneContainer(service)) ?? service
        let tagged = (try? Self.statingConcurrency(of: whole)) ?? whole
        boundOperations = V2BoundOperations(of: service)
        let callable = (try? boundOperations.adding(to: tagged)) ?? tagged
        let described = (try? SAPAnnotations(capabilities: capabilities).adding(to: callable)) ?? callable
        metadata = CSDLWriter.document(described, as: .xml(.v2)).bytes
        visible = try CSDLReader.read(xml: metadata)
        actionLinks = V2ActionLinks(of: visible)
    }

    /// Returns the model with all sets in the default container.
    ///
    /// V2 clients address sets by their simple names, even if the model comes from an older service with qualified
    /// names.
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

    /// Returns the model with concurrency tokens on properties, as in V2. V4 lists the properties on the entity
    /// set.
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

    /// Whether the service already uses V2 types, so that values and literals need no conversion.
    var isNative: Bool { service.version < .v4 }

    /// A cache of the last model.
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
