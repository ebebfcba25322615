import Foundation
import ODataModel
import ODataStore

/// The reference service as a definition: the model, what the service gives of itself, its operations.
enum ReferenceDefinition {
    static let namespace = "ComplianceService"

    static func name(_ simple: String) -> QualifiedName { QualifiedName(namespace, simple) }

    /// - Throws: when the parts of the program do not fit one another.
    static func make() throws -> ServiceDefinition {
        let model = try CSDLReader.read(xml: PackageResources.metadata_xml)
        var definition = ServiceDefinition(model: model)
        definition.values = [
            .created("CreatedAt"), .modified("ModifiedAt"), .modified("UpdatedAt"),
            .contentType("ContentType", of: name("MediaItem")), .contentLength("Size", of: name("MediaItem")),
            .slug("Name", of: name("MediaItem"), or: "Unnamed"),
            // The type of a product and its discriminator say the same.
            ValueRule("ProductType", of: name("Product"), when: .insert, overrides: false) { context in
                .string(context.entity.shape.name.name)
            },
        ]
        definition.unique("Categories", "Name")
        try ProductOperations.register(in: &definition)
        try ServiceOperations.register(in: &definition)
        return definition
    }
}
