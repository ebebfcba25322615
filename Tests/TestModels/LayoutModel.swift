import ODataModel

/// A small model with an example of everything that affects the layout.
package enum LayoutModel {
    package static let namespace = "Shop"

    package static func name(_ name: String) -> QualifiedName { QualifiedName(namespace, name) }

    package static func make() throws -> EntityDataModel {
        let address = StructuredType(
            name: name("Address"), kind: .complex,
            properties: [
                Property(name: "City", type: .primitive(.string)),
                Property(name: "Zip", type: .primitive(.string), facets: Facets(maxLength: 5)),
            ])
        let customer = StructuredType(
            name: name("Customer"), kind: .entity, isOpen: true, key: [.init(path: "ID")],
            properties: [
                Property(name: "ID", type: .primitive(.guid), isNullable: false),
                Property(name: "Name", type: .primitive(.string), isNullable: false, facets: Facets(maxLength: 10)),
                Property(name: "name", type: .primitive(.string)),
                Property(name: "Address", type: .complex(name("Address"))),
                Property(name: "Phones", type: .collection(.primitive(.string)), isNullable: false),
                Property(name: "Color", type: .enumeration(name("Color"))),
            ],
            navigationProperties: [
                NavigationProperty(name: "Orders", target: name("Order"), isCollection: true, partner: "Customer"),
                NavigationProperty(name: "Friends", target: name("Customer"), isCollection: true),
            ])
        let vip = StructuredType(
            name: name("Vip"), kind: .entity, baseType: name("Customer"),
            properties: [
                Property(
                    name: "Discount", type: .primitive(.decimal),
                    facets: Facets(precision: 5, scale: .fixed(2)))
            ])
        let order = StructuredType(
            name: name("Order"), kind: .entity, key: [.init(path: "OrderID")],
            properties: [
                Property(
                    name: "OrderID", type: .primitive(.int32), isNullable: false,
                    annotations: [Annotation(term: "Org.OData.Core.V1.ComputedDefaultValue")]),
                Property(name: "CustomerID", type: .primitive(.guid)),
                Property(
                    name: "Freight", type: .primitive(.decimal), facets: Facets(precision: 9, scale: .fixed(2))),
                Property(name: "Placed", type: .primitive(.dateTimeOffset)),
                Property(
                    name: "Created", type: .primitive(.dateTimeOffset),
                    annotations: [
                        Annotation(term: "Org.OData.Core.V1.Computed", value: .constant(kind: "Bool", text: "true"))
                    ]),
                Property(
                    name: "Source", type: .primitive(.string),
                    annotations: [Annotation(term: "Org.OData.Core.V1.Immutable")]),
                Property(name: "Quantity", type: .primitive(.int16), isNullable: false, defaultValue: "1"),
                Property(name: "Photo", type: .primitive(.stream)),
            ],
            navigationProperties: [
                NavigationProperty(
                    name: "Customer", target: name("Customer"), isCollection: false, partner: "Orders",
                    constraints: [ReferentialConstraint(property: "CustomerID", referencedProperty: "ID")]),
                NavigationProperty(name: "Items", target: name("Item"), isCollection: true, isContainment: true),
            ])
        let item = StructuredType(
            name: name("Item"), kind: .entity, key: [.init(path: "Line")],
            properties: [
                Property(name: "Line", type: .primitive(.int32), isNullable: false),
                Property(name: "Text", type: .primitive(.string)),
            ])
        let color = EnumType(
            name: name("Color"), members: [.init(name: "Red", value: 0), .init(name: "Green", value: 1)])
        let container = EntityContainer(
            name: name("Container"),
            entitySets: [
                EntitySet(
                    name: "Customers", type: name("Customer"),
                    bindings: [.init(path: "Orders", target: "Orders"), .init(path: "Friends", target: "Customers")]),
                EntitySet(
                    name: "Orders", type: name("Order"), bindings: [.init(path: "Customer", target: "Customers")]),
                EntitySet(name: "sqlite_things", type: name("Item")),
            ],
            singletons: [Singleton(name: "Company", type: name("Customer"))])
        return try EntityDataModel(schemas: [
            ODataSchema(
                namespace: namespace, structuredTypes: [address, customer, vip, order, item], enumTypes: [color],
                container: container)
        ])
    }
}
