// The plans that a packet's calls found lately, by what makes up their key.
#pragma once

#include "call/program.h"

namespace mindtorch {

// Arguments as a call gives them: values in order, and the names of the last of them or null.
struct Given {
    PyObject* const* arguments;
    Py_ssize_t positional;
    PyObject* names;

    Py_ssize_t named() const { return names == nullptr ? 0 : PyTuple_GET_SIZE(names); }
    Py_ssize_t count() const { return positional + named(); }
};

class Lookup {
public:
    // Of an overload's calls, whose keys begin with its row, where one is given; else of a packet's.
    explicit Lookup(PyObject* row = nullptr) : row_(Py_XNewRef(row)) {}
    Lookup(const Lookup&) = delete;
    Lookup& operator=(const Lookup&) = delete;
    ~Lookup() {
        clear();
        Py_CLEAR(row_);
    }

    // The plan of a call as a new reference, and its program. Null without an error when it must be made or the call is
    // none for a key; null with an error set.
    PyObject* find(PyObject* packet, const Given& given, Program*& program);

    void clear();
    int traverse(visitproc visit, void* arg);

private:
    struct Entry {
        size_t hash = 0;
        PyObject* key = nullptr;
        PyObject* plan = nullptr;
        Program* program = nullptr;
    };

    static constexpr size_t FEWEST = 8, MOST = 4096;  // powers of two

    bool is_free(Py_ssize_t place, const Given& given) const;
    size_t hash_of(PyObject* mode, const Given& given) const;
    bool matches(PyObject* key, PyObject* mode, const Given& given) const;
    bool matches_from(Py_ssize_t place, PyObject* key, const Given& given) const;
    bool matches_row(PyObject* key, PyObject* mode, const Given& given) const;
    Entry* place_of(size_t hash);
    PyObject* make_key(PyObject* mode, const Given& given) const;
    PyObject* search(PyObject* packet, PyObject* mode, const Given& given, Ref& key);
    PyObject* search_by(PyObject* plans, PyObject* key, const Given& given) const;
    int start_anew(PyObject* packet, PyObject* plans);
    int remember(size_t hash, PyObject* key, PyObject* plan, Program* program);

    PyObject* row_;
    std::vector<Entry> entries_;
    PyObject* plans_ = nullptr;    // the packet's, for which the entries hold
    PyObject* free_ = nullptr;     // where a number's value is no part of a key
    PyObject* own_key_ = nullptr;  // the packet's own key function or None
    unsigned long long free_places_ = 0;
};

}  // namespace mindtorch
