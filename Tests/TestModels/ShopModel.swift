import ODataModel

/// A model of orders, customers, items, products and employees, for the tests of queries.
package enum ShopModel {
    package static func make() throws -> EntityDataModel { try EntityDataModel(schemas: [schema]) }

    private static func name(_ simple: String) -> QualifiedName { QualifiedName("Shop", simple) }

    private static func property(_ name: String, _ type: PrimitiveType, isNullable: Bool = true) -> Property {
        Property(name: name, type: .primitive(type), isNullable: isNullable)
    }

    private static func entity(
        _ simple: String, base: String? = nil, isOpen: Bool = false, hasStream: Bool = false, key: [String],
        _ properties: [Property], _ navigation: [NavigationProperty] = [], annotations: [Annotation] = []
    ) -> StructuredType {
        StructuredType(
            name: name(simple), kind: .entity, baseType: base.map(name), isOpen: isOpen, hasStream: hasStream,
            key: key.map { StructuredType.KeyProperty(path: $0) }, properties: properties,
            navigationProperties: navigation, annotations: annotations)
    }

    private static let order = entity(
        "Order", key: ["OrderID"],
        [
            property("OrderID", .int32, isNullable: false), property("OrderDate", .dateTimeOffset),
            property("Placed", .date), property("Opens", .timeOfDay), property("Took", .duration),
            property("Freight", .decimal), property("Weight", .double), property("Ratio", .single),
            property("Pieces", .int16), property("Total", .int64), property("ShipCity", .string),
            property("CustomerID", .string), property("Paid", .boolean), property("Token", .guid),
            property("Scan", .binary), property("Where", .geographyPoint), property("Area", .geographyPolygon),
            Property(name: "Style", type: .enumeration(name("Pattern"))),
            Property(name: "State", type: .enumeration(name("State"))),
            Property(name: "Address", type: .complex(name("Address"))),
            Property(name: "Stops", type: .collection(.complex(name("Address")))),
            Property(name: "Tags", type: .collection(.primitive(.string))),
        ],
        [
            NavigationProperty(name: "Customer", target: name("Customer"), isCollection: false),
            NavigationProperty(name: "Items", target: name("Item"), isCollection: true, partner: "Order"),
            NavigationProperty(name: "Notes", target: name("Note"), isCollection: true, isContainment: true),
        ])

    private static let types: [StructuredType] = [
        order,
        entity(
            "Customer", key: ["CustomerID"],
            [
                property("CustomerID", .string, isNullable: false), property("CompanyName", .string),
                property("Country", .string),
                Property(name: "Address", type: .complex(name("Address"))),
            ],
            [NavigationProperty(name: "Orders", target: name("Order"), isCollection: true)]),
        entity(
            "Item", key: ["OrderID", "ProductID"],
            [
                property("OrderID", .int32, isNullable: false), property("ProductID", .int32, isNullable: false),
                property("UnitPrice", .decimal), property("Quantity", .int16),
            ],
            [
                NavigationProperty(name: "Product", target: name("Product"), isCollection: false),
                NavigationProperty(name: "Order", target: name("Order"), isCollection: false),
            ]),
        entity(
            "Product", hasStream: true, key: ["ProductID"],
            [
                property("ProductID", .int32, isNullable: false), property("Name", .string),
                property("Price", .decimal),
            ]),
        entity("OldProduct", base: "Product", key: [], [property("Ended", .date)]),
        entity("Note", key: ["NoteID"], [property("NoteID", .int32, isNullable: false), property("Text", .string)]),
        entity("Thing", isOpen: true, key: ["ID"], [property("ID", .guid, isNullable: false)]),
        entity(
            "Employee", key: ["ID"],
            [property("ID", .int64, isNullable: false), property("Name", .string)],
            [
                NavigationProperty(name: "Manager", target: name("Employee"), isCollection: false),
                NavigationProperty(name: "Reports", target: name("Employee"), isCollection: true),
            ],
            annotations: [
                Annotation(
                    term: "Org.OData.Aggregation.V1.RecursiveHierarchy", qualifier: "Org",
                    value: .record(
                        type: nil,
                        properties: [
                            .init(name: "NodeProperty", value: .path(kind: "PropertyPath", text: "ID")),
                            .init(
                                name: "ParentNavigationProperty",
                                value: .path(kind: "NavigationPropertyPath", text: "Manager")),
                        ])),
                Annotation(
                    term: "Org.OData.Core.V1.AlternateKeys",
                    value: .collection([
                        .record(
                            type: nil,
                            properties: [
                                .init(
                                    name: "Key",
                                    value: .collection([
                                        .record(
                                            type: nil,
                                            properties: [
                                                .init(name: "Name", value: .path(kind: "PropertyPath", text: "Name")),
                                                .init(name: "Alias", value: .constant(kind: "String", text: "Called")),
                                            ])
                                    ]))
                            ])
                    ])),
            ]),
        StructuredType(
            name: name("Address"), kind: .complex,
            properties: [property("City", .string), property("Country", .string)],
            navigationProperties: [
                NavigationProperty(name: "Shop", target: name("Customer"), isCollection: false)
            ]),
    ]

    private static let schema = ODataSchema(
        namespace: "Shop", alias: "S", structuredTypes: types,
        enumTypes: [
            EnumType(
                name: name("Pattern"), isFlags: true,
                members: [
                    .init(name: "Plain", value: 0), .init(name: "Red", value: 1), .init(name: "Striped", value: 2),
                ]),
            EnumType(name: name("State"), members: [.init(name: "New", value: 0), .init(name: "Sent", value: 1)]),
        ],
        operations: [
            ODataOperation(
                name: name("Best"), kind: .function, isBound: true, isComposable: true, entitySetPath: "bound",
                parameters: [
                    .init(name: "bound", type: .collection(.entity(name("Product")))),
                    .init(name: "Rank", type: .primitive(.int32)),
                ], returnType: .entity(name("Product"))),
            ODataOperation(
                name: name("Discount"), kind: .action, isBound: true,
                parameters: [.init(name: "bound", type: .entity(name("Order")))]),
            ODataOperation(
                name: name("Nearby"), kind: .function, isComposable: true,
                parameters: [
                    .init(name: "city", type: .primitive(.string)),
                    .init(
                        name: "radius", type: .primitive(.double),
                        annotations: [Annotation(term: "Org.OData.Core.V1.OptionalParameter", value: nil)]),
                ], returnType: .collection(.entity(name("Customer")))),
        ],
        container: EntityContainer(
            name: name("Container"),
            entitySets: [
                EntitySet(
                    name: "Orders", type: name("Order"),
                    bindings: [.init(path: "Customer", target: "Customers"), .init(path: "Items", target: "Items")]),
                EntitySet(
                    name: "Customers", type: name("Customer"), bindings: [.init(path: "Orders", target: "Orders")]),
                EntitySet(
                    name: "Items", type: name("Item"),
                    bindings: [.init(path: "Product", target: "Products"), .init(path: "Order", target: "Orders")]),
                EntitySet(name: "Products", type: name("Product")),
                EntitySet(name: "Things", type: name("Thing")),
                EntitySet(name: "Employees", type: name("Employee")),
            ],
            singletons: [.init(name: "Me", type: name("Employee"))],
            operationImports: [
                .init(name: "Nearby", operation: name("Nearby"), kind: .function, entitySet: "Customers")
            ]))
}
