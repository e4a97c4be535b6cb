// `tensor[...]` for tuples of ints, tensors that hold one, slices, None and `...`: the calls of view operators that
// they stand for.
#include "call/subscript.h"

#include <limits.h>

namespace mindtorch {

namespace {

// The methods of tensors that make the views, and where a slice ends that names no end.
PyObject *select_method = nullptr, *slice_method = nullptr, *unsqueeze_method = nullptr, *slice_end = nullptr;

constexpr Py_ssize_t MOST_ITEMS = 32;

// A call of `method` with `count` arguments after the tensor, all borrowed but the first, which is a dimension.
struct Step {
    PyObject* method;
    Py_ssize_t dim, count;
    PyObject* arguments[3];
};

// An int that a slice may have for a bound.
bool is_bound(PyObject* value) {
    if (value == Py_None) return true;
    int overflow = 0;
    return PyLong_CheckExact(value) && PyLong_AsLongLongAndOverflow(value, &overflow) != LLONG_MIN && overflow == 0;
}

// The number that a tensor without dimensions holds, where it is an index; null without an error where that is not
// sure. Of uint8 and bool it is a mask.
PyObject* whole_number(PyObject* tensor) {
    PyObject* mode = current_mode();
    if (mode == nullptr || slot(mode, configuration.mode.overriding) != Py_False || current_pipe() != Py_None) {
        PyErr_Clear();
        return nullptr;
    }
    PyObject* array = slot(tensor, configuration.tensor.array);
    if (array == nullptr || !PyArray_CheckExact(array)) return nullptr;
    auto* found = reinterpret_cast<PyArrayObject*>(array);
    const int type = PyArray_TYPE(found);
    if (PyArray_NDIM(found) != 0 || !PyTypeNum_ISINTEGER(type) || type == NPY_UBYTE) return nullptr;
    PyObject* number = PyArray_GETITEM(found, PyArray_BYTES(found));
    if (number == nullptr) PyErr_Clear();
    return number;
}

class Walk {
public:
    explicit Walk(PyObject* shape) : shape_(shape), free_(PyTuple_GET_SIZE(shape)) {}

    // Read a tuple of items, or one alone; false where one is of another kind, or wrong.
    bool read(PyObject* index) {
        const bool several = PyTuple_CheckExact(index);
        PyObject* const* items = several ? &PyTuple_GET_ITEM(index, 0) : &index;
        const Py_ssize_t many = several ? PyTuple_GET_SIZE(index) : 1;
        if (many > MOST_ITEMS) return false;
        for (Py_ssize_t place = 0; place < many; place++) {
            PyObject* item = items[place];
            if (Py_TYPE(item) == plain_seen[0]) {
                item = whole_number(item);
                if (item == nullptr || !keep(item)) return false;
            }
            read_[place] = item;
            free_ -= PyLong_CheckExact(item) || PySlice_Check(item);
        }
        if (free_ < 0) return false;
        for (Py_ssize_t place = 0; place < many; place++)
            if (!take(read_[place])) return false;
        return true;
    }

    // Make the calls.
    PyObject* run(PyObject* tensor) const {
        Ref result(Py_NewRef(tensor));
        for (Py_ssize_t index = 0; index < count_; index++) {
            const Step& step = steps_[index];
            Ref dim(PyLong_FromSsize_t(step.dim));
            if (!dim) return nullptr;
            PyObject* given[5] = {result.get(), dim.get()};
            for (Py_ssize_t place = 0; place < step.count; place++) given[place + 2] = step.arguments[place];
            PyObject* made =
                into_python<PyObject_Vectorcall>(step.method, given, static_cast<size_t>(step.count + 2), nullptr);
            if (made == nullptr) return nullptr;
            result.reset(made);
        }
        return result.release();
    }

    bool empty() const { return count_ == 0; }

private:
    // Hold a number that is no item itself.
    bool keep(PyObject* number) {
        Ref held(number);
        if (!numbers_) numbers_.reset(PyList_New(0));
        if (numbers_ && PyList_Append(numbers_.get(), number) == 0) return true;
        PyErr_Clear();
        return false;
    }

    bool take(PyObject* item) {
        if (PyLong_CheckExact(item)) return take_int(item);
        if (PySlice_Check(item)) return take_slice(reinterpret_cast<PySliceObject*>(item));
        if (item == Py_None) {
            add({unsqueeze_method, dim_++, 0, {}});
            return true;
        }
        if (item != Py_Ellipsis) return false;
        if (more_) return false;
        more_ = true;
        dim_ += free_;
        place_ += free_;
        return true;
    }

    // The extent of the next dimension that an item names; -1 where there is none.
    Py_ssize_t extent() const {
        return place_ < PyTuple_GET_SIZE(shape_) ? PyLong_AsSsize_t(PyTuple_GET_ITEM(shape_, place_)) : -1;
    }

    bool take_int(PyObject* item) {
        int overflow = 0;
        const long long position = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow != 0 || position >= extent() || position < -extent()) return false;
        place_++;
        add({select_method, dim_, 1, {item}});
        return true;
    }

    bool take_slice(PySliceObject* item) {
        Py_ssize_t start, stop, step;
        const Py_ssize_t many = extent();
        PyObject* by = item->step == Py_None ? configuration.one : item->step;
        if (many < 0 || !is_bound(item->start) || !is_bound(item->stop) || !is_bound(by) ||
            PySlice_Unpack(reinterpret_cast<PyObject*>(item), &start, &stop, &step) < 0) {
            PyErr_Clear();
            return false;
        }
        if (step <= 0) return false;
        if (start != 0 || stop < many || step != 1) {
            PyObject* first = item->start == Py_None ? configuration.zero : item->start;
            PyObject* last = item->stop == Py_None ? slice_end : item->stop;
            add({slice_method, dim_, 3, {first, last, by}});
        }
        place_++;
        dim_++;
        return true;
    }

    void add(const Step& step) { steps_[count_++] = step; }

    PyObject* shape_;
    Py_ssize_t free_, dim_ = 0, place_ = 0, count_ = 0;
    bool more_ = false;  // `...` was there
    Step steps_[MOST_ITEMS];
    PyObject* read_[MOST_ITEMS];  // the items, numbers for tensors
    Ref numbers_;                 // a list of those
};

PyObject* view(PyObject* tensor, PyObject* index, bool itself) {
    PyObject* sig = select_method == nullptr ? nullptr : signature_of(tensor);
    PyObject* spec = sig == nullptr ? nullptr : spec_of(sig);
    PyObject* shape = spec == nullptr ? nullptr : slot(spec, configuration.spec.shape);
    if (shape == nullptr || !PyTuple_Check(shape)) return nullptr;
    Walk walk(shape);
    if (!walk.read(index) || (walk.empty() && !itself)) return nullptr;
    return walk.run(tensor);
}

}  // namespace

PyObject* subscript(PyObject* tensor, PyObject* index) { return view(tensor, index, false); }

PyObject* view_of(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "view_of(tensor, items)");
        return nullptr;
    }
    if (is_plain(Py_TYPE(arguments[0])) != 1 || !PyTuple_CheckExact(arguments[1])) Py_RETURN_NONE;
    PyObject* made = view(arguments[0], arguments[1], true);
    return made != nullptr || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

PyObject* subscript_by(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "subscript_by(select, slice, unsqueeze, end)");
        return nullptr;
    }
    PyObject** const kept[] = {&select_method, &slice_method, &unsqueeze_method, &slice_end};
    for (int index = 0; index < 4; index++) Py_XSETREF(*kept[index], Py_NewRef(arguments[index]));
    Py_RETURN_NONE;
}

}  // namespace mindtorch
