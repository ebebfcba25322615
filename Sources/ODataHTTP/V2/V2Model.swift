import ODataModel
import ODataService
import Synchronization

/// What clients of OData 2.0 see of a service: its model as V2 metadata says it, with V2's types (rule 24).
///
/// The metadata document is the table: what V2 cannot say is not in it, and is neither sent nor taken.
struct V2Model: Sendable {
    /// The service's own model.
    let service: EntityDataModel
    /// The model that the V2 metadata describes.
    let visible: EntityDataModel
    /// The V2 metadata.
    let metadata: [UInt8]

    /// Writes the metadata of a model and reads it as a client would.
    ///
    /// - Throws: ``CSDLError`` when the model has something that no V2 metadata can hold together.
    init(_ service: EntityDataModel, capabilities: ServiceCapabilities? = nil) throws(CSDLError) {
        self.service = service
        // A model that was made once can be made again with attributes more.
        let described = (try? SAPAnnotations(capabilities: capabilities).adding(to: service)) ?? service
        metadata = CSDLWriter.document(described, as: .xml(.v2)).bytes
        visible = try CSDLReader.read(xml: metadata)
    }

    /// Whether the service's types are V2's already, so that values and literals go through as they are.
    var isNative: Bool { service.version < .v4 }

    /// Keeps the last one: a service has one model, or now and then another.
    final class Cache: Sendable {
        private let last = Mutex<V2Model?>(nil)

        func model(
            for service: EntityDataModel, capabilities: ServiceCapabilities?
        ) throws(CSDLError) -> V2Model {
            if let kept = last.withLock({ $0 }), kept.service === service { return kept }
            let fresh = try V2Model(service, capabilities: capabilities)
            last.withLock { $0 = fresh }
            return fresh
        }
    }
}
