import ODataModel
import ODataSQL

func usesODataSQL() async throws {
    let model = try EntityDataModel(schemas: [])
    print(OfflineLayout(model: model).statements.count)
}
