import ODataModel
import ODataStore

func usesODataStore() async throws {
    let service = try await StoreService.open(ServiceDefinition(model: try EntityDataModel(schemas: [])), at: .memory)
    print(service.isNew)
}
