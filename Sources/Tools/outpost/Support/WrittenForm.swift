import ODataModel
import ToolLanguage

extension PrimitiveType {
    /// Advice on the text of a value, as a sentence with an example; `nil` if every text is a value.
    var writtenForm: TerminalText? {
        let example: TerminalText? =
            switch self {
            case .boolean: "true or false"
            case .byte: "a whole number from 0 to 255"
            case .sbyte: "a whole number from -128 to 127"
            case .int16: "a whole number from -32768 to 32767"
            case .int32: "a whole number of at most 10 digits, such as 42"
            case .int64: "a whole number, such as 42"
            case .decimal: "a number with a point, such as 12.50"
            case .single, .double: "a number, such as 1.5 or 2.5e3"
            case .date: "1997-06-01"
            case .timeOfDay: "14:30:00"
            case .dateTimeOffset: "1997-06-01T00:00:00Z"
            case .dateTime: "1997-06-01T00:00:00"
            case .duration, .time: "PT1H30M"
            case .guid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
            case .binary: "base64url, such as AQID"
            case _ where isGeo: "SRID=4326;Point(7.44 46.95)"
            default: nil
            }
        return example.map { "Write it as \($0)." }
    }
}
