import ODataModel

/// The metadata embedded in generated code, which are parsed when they are first needed.
///
/// If someone edited the metadata so that they cannot be parsed or lack a type, the code still loads. The first use
/// of a type then throws ``DataServiceError/generatedMetadata(_:reason:)``.
public struct GeneratedMetadata: Sendable {
    /// The model; empty if the text could not be parsed.
    public let model: EntityDataModel
    /// The error of parsing the text.
    private let failure: CSDLError?

    /// Parses metadata.
    ///
    /// - Parameter text: the CSDL XML document that the generator wrote.
    public init(_ text: String) {
        do throws(CSDLError) {
            model = try CSDLReader.read(Array(text.utf8))
            failure = nil
        } catch {
            model = EntityDataModel()
            failure = error
        }
    }

    /// Returns the shape of a generated type; a shape without properties if the metadata lack the type.
    public func shape(_ type: QualifiedName) -> TypeShape {
        model.shape(type) ?? TypeShape(dynamic: type, properties: [])
    }

    /// Checks that the metadata declare the type.
    ///
    /// - Throws: ``DataServiceError/generatedMetadata(_:reason:)``.
    public func check(_ type: QualifiedName) throws(DataServiceError) {
        if let failure { throw .generatedMetadata(type, reason: failure.description) }
        guard model.structuredType(type) != nil else {
            throw .generatedMetadata(type, reason: "They do not declare \(type).")
        }
    }
}
