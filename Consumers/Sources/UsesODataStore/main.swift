import ODataModel
import ODataStore

let model = try EntityDataModel(schemas: [])
print(OfflineLayout(model: model).statements.count)
