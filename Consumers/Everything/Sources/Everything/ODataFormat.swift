import ODataFormat
import ODataModel

func usesODataFormat() async throws {
    let error = ODataErrorPayload(code: "NotFound", message: "There is no such order.")
    print(error)
}
