import ODataGenerator
import ODataModel

func usesODataGenerator() async throws {
    let type = StructuredType(
        name: QualifiedName("Shop", "Order"), kind: .entity, key: [.init(path: "ID")],
        properties: [Property(name: "ID", type: .primitive(.int32), isNullable: false)])
    let schema = ODataSchema(
        namespace: "Shop", structuredTypes: [type],
        container: EntityContainer(
            name: QualifiedName("Shop", "Shop"), entitySets: [EntitySet(name: "Orders", type: type.name)]))
    let code = try Generator(try EntityDataModel(schemas: [schema])).generate()
    print(code.files.map(\.path).joined(separator: " "))
}
