extension ColumnCodec {
    /// The codecs of most columns, whose values are bound to SQLite without an intermediate value.
    ///
    /// The cases have no payload, so that a download does not retain and release memory for each value.
    enum PlainForm {
        case integer, string, boolean, date, double, guid, dateTimeOffset, decimalBytes
    }

    /// The form of the values; `nil` if they must be encoded.
    var plainForm: PlainForm? {
        switch self {
        case .integer: .integer
        case .string: .string
        case .boolean: .boolean
        case .date: .date
        case .double: .double
        case .guid: .guid
        case .dateTimeOffset: .dateTimeOffset
        case .decimalBytes: .decimalBytes
        default: nil
        }
    }
}
