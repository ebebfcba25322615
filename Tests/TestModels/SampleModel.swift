import ODataModel

/// A small model with values of every kind.
package enum SampleModel {
    package static let address = QualifiedName("Shop", "Address")
    package static let color = QualifiedName("Shop", "Color")

    package static func make() throws -> EntityDataModel {
        let address = StructuredType(
            name: address, kind: .complex,
            properties: [
                Property(name: "Street", type: .primitive(.string)),
                Property(name: "Zip", type: .primitive(.int32)),
            ])
        let abroad = StructuredType(
            name: QualifiedName("Shop", "AddressAbroad"), kind: .complex, baseType: Self.address, isOpen: true,
            properties: [Property(name: "Country", type: .primitive(.string))])
        let color = EnumType(
            name: color, isFlags: true,
            members: [
                .init(name: "None", value: 0), .init(name: "Red", value: 1), .init(name: "Green", value: 2),
                .init(name: "Yellow", value: 3), .init(name: "Blue", value: 4),
            ])
        let weight = TypeDefinition(name: QualifiedName("Shop", "Weight"), underlyingType: .decimal)
        return try EntityDataModel(schemas: [
            ODataSchema(
                namespace: "Shop", alias: "S", structuredTypes: [address, abroad], enumTypes: [color],
                typeDefinitions: [weight])
        ])
    }
}
