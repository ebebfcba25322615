import Foundation
import ODataModel
import ODataService
import ODataStore

/// The definition of the reference service: its model, its computed values and its operations.
enum ReferenceDefinition {
    static let namespace = "ComplianceService"

    static func name(_ simple: String) -> QualifiedName { QualifiedName(namespace, simple) }

    /// - Throws: An error if the model, the rules and the operations contradict each other.
    static func make() throws -> ServiceDefinition {
        let model = try CSDLReader.read(xml: PackageResources.metadata_xml)
        var definition = ServiceDefinition(model: model)
        definition.values = [
            .created("CreatedAt"), .modified("ModifiedAt"), .modified("UpdatedAt"),
            .contentType("ContentType", of: name("MediaItem")), .contentLength("Size", of: name("MediaItem")),
            .slug("Name", of: name("MediaItem"), or: "Unnamed"),
            // The discriminator of a product equals the name of its type.
            ValueRule("ProductType", of: name("Product"), when: .insert, overrides: false) { context in
                .string(context.entity.shape.name.name)
            },
            // The initial values of a product if the client does not state them.
            .initial("Rating", of: name("Product"), .integer(0)),
            .initial("Temperature", of: name("Product"), .integer(0)),
            .initial("Quantity", of: name("Product"), .integer(0)),
            .initial("Weight", of: name("Product"), .single(0)),
            .initial("Status", of: name("Product"), .enumeration(0)),
        ]
        keepDiscriminator(&definition)
        definition.unique("Categories", "Name")
        // The metadata requires no ETag, because many clients change products without one.
        definition.countChanges(of: "Products", in: "Version")
        try ProductOperations.register(in: &definition)
        try ServiceOperations.register(in: &definition)
        return definition
    }

    /// Uses the discriminator as the type if a client states no type, and keeps it when a product is replaced.
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
