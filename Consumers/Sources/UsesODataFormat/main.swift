import ODataFormat
import ODataModel

let error = ODataErrorPayload(code: "NotFound", message: "There is no such order.")
print(error)
