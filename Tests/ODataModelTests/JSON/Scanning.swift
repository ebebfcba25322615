@testable import ODataModel

/// Scans a text with `body`.
func scan<Result>(
    _ text: String, isComplete: Bool = true, _ body: (inout JSONScanner) throws(JSONError) -> Result
) throws(JSONError) -> Result {
    try JSONScanner.scan(Array(text.utf8), isComplete: isComplete, body)
}

/// Returns the error that reading a text as JSON causes; `nil` if reading succeeds.
func jsonError(_ bytes: [UInt8], isComplete: Bool = true) -> JSONError? {
    do throws(JSONError) {
        try JSONScanner.scan(bytes, isComplete: isComplete) { (scanner) throws(JSONError) in
            try scanner.skipValue()
            try scanner.expectEnd()
        }
        return nil
    } catch {
        return error
    }
}
