import Foundation
import ODataModel
import ODataService
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
            // What a product begins with where a client says nothing of it.
            .initial("Rating", of: name("Product"), .integer(0)),
            .initial("Temperature", of: name("Product"), .integer(0)),
            .initial("Quantity", of: name("Product"), .integer(0)),
            .initial("Weight", of: name("Product"), .single(0)),
            .initial("Status", of: name("Product"), .enumeration(0)),
        ]
        keepDiscriminator(&definition)
        definition.unique("Categories", "Name")
        // The metadata ask for no condition: many clients change products without one.
        definition.countChanges(of: "Products", in: "Version")
        try ProductOperations.register(in: &definition)
        try ServiceOperations.register(in: &definition)
        return definition
    }

    /// The discriminator says the type where a client states none, and stays when a product is replaced.
    private static func keepDiscriminator(_ definition: inout ServiceDefinition) {
        let special = definition.model.shape(name("SpecialProduct"))
        definition.beforeRequest { request in
            guard request.method == .create, case .entity(let entity) = request.body, let special,
                entity.shape.name == name("Product"), entity["ProductType"] == .string(special.name.name)
            else { return }
            var typed = ODataEntity(shape: special)
            for (property, value) in zip(entity.shape.properties, entity.values) {
                if let ordinal = special.ordinal(of: property.name) { typed.values[ordinal] = value }
            }
            typed.related = entity.related
            typed.control = entity.control
            request.body = .entity(typed)
        }
        definition.before(.update, "Products") { entity, _ in
            guard entity["ProductType"]?.isNull == true else { return }
            entity["ProductType"] = .string(entity.shape.name.name)
        }
    }
}
