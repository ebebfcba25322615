import ODataClient
import ODataQuery
import ToolLanguage

extension QueryError {
    /// The message, place, suggestions and advice on one line, in the language of the person.
    var words: String {
        guard Language.current == .german else { return description }
        var line = LibraryText.text(message)
        if let part { line = "\(part): \(line)" }
        if let offset { line += translated(" (at character \(offset + 1))") }
        if !suggestions.isEmpty {
            line += translated(" Did you mean \(suggestions.joined(separator: translated(" or ")))?")
        }
        if let hint { line += " " + LibraryText.text(hint) }
        let code = ErrorCode(self).rawValue
        return ErrorMessages.standard.text(code, locale: Language.german.rawValue, arguments: ["reason": line]) ?? line
    }
}
