extension ColumnCodec {
    /// How the values of most columns go to SQLite with nothing made of them between. It has nothing in it that would be
    /// counted when it is passed on, as is done for each value of a download.
    enum PlainForm {
        case integer, string, boolean, date, double, guid, dateTimeOffset, decimalBytes
    }

    /// The form of the codec's values; `nil` where they must be encoded.
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
