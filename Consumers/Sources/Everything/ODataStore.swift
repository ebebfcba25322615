import ODataModel
import ODataStore

func usesODataStore() async throws {
    let model = try EntityDataModel(schemas: [])
    print(OfflineLayout(model: model).statements.count)
}
