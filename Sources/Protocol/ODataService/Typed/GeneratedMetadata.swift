import ODataModel

/// The metadata that stand in generated code, read once when they are first needed.
///
/// The generator has read what it wrote. Where somebody edited the text since, so that it is no metadata any more or
/// lacks a type, the code still loads: the first use of a type says so, by
/// ``DataServiceError/generatedMetadata(_:reason:)``.
public struct GeneratedMetadata: Sendable {
    /// The model; one that declares nothing where the text is no metadata.
    public let model: EntityDataModel
    /// Why the text is no metadata.
    private let failure: CSDLError?

    /// Reads metadata.
    ///
    /// - Parameter text: CSDL XML as the generator wrote it.
    public init(_ text: String) {
        do throws(CSDLError) {
            model = try CSDLReader.read(Array(text.utf8))
            failure = nil
        } catch {
            model = EntityDataModel()
            failure = error
        }
    }

    /// The shape of a generated type; one without properties where the metadata lack it.
    public func shape(_ type: QualifiedName) -> TypeShape {
        model.shape(type) ?? TypeShape(dynamic: type, properties: [])
    }

    /// That the metadata declare a type.
    ///
    /// - Throws: ``DataServiceError/generatedMetadata(_:reason:)``.
    public func check(_ type: QualifiedName) throws(DataServiceError) {
        if let failure { throw .generatedMetadata(type, reason: failure.description) }
        guard model.structuredType(type) != nil else {
            throw .generatedMetadata(type, reason: "They do not declare \(type).")
        }
    }
}
